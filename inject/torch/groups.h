#pragma once

#include <cstdint>

namespace profshim::torch {

bool is_process_group(const void* address);

/// Returns 0 if the group is unknown. A null `address` means the only group with several members. Any thread.
std::uint32_t group_id(const void* address);

/// Defines even groups that no collective uses.
void define_groups();
/// In a child of a fork, which is a member of none.
void leave_parents_groups();

}  // namespace profshim::torch
