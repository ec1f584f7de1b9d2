#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fakes/nccl/communicator.h"

namespace fake::nccl {

bool has_driver();

extern thread_local int group_depth;
void clear_group();
int end_group();

/// Returns 0 for an unknown type.
std::size_t type_bytes(int type);
std::string kernel_with_op(const char* function, int op, int type);
/// Launches the operation at once if no group is open.
int enqueue(Communicator* communicator, const char* function, std::string kernel, std::uint64_t bytes, int type,
            int root, void* stream, bool is_collective);

}  // namespace fake::nccl
