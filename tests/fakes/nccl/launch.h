// Operations of the fake NCCL, the groups that collect them, and their launch through the driver API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fakes/nccl/communicator.h"

namespace fake::nccl {

/// Returns true if there is a driver that can launch kernels.
bool has_driver();

extern thread_local int group_depth;
/// Drops the operations of the open group.
void clear_group();
/// Ends a group; the outermost end launches.
int end_group();

/// Returns the bytes of an element of an ncclDataType_t, 0 for an unknown type.
std::size_t type_bytes(int type);
/// Returns the kernel name of a function with a reduction.
std::string kernel_with_op(const char* function, int op, int type);
/// Adds an operation to the open group, or launches it if none is open.
int enqueue(Communicator* communicator, const char* function, std::string kernel, std::uint64_t bytes, int type,
            int root, void* stream, bool is_collective);

}  // namespace fake::nccl
