// The process groups of torch.distributed, of all backends. Hooks note them when they are made.
#pragma once

#include <cstdint>

namespace profshim::torch {

/// Returns true if a process group has been made at `address`. Any thread.
bool is_process_group(const void* address);

/// Returns the Definition id of the group at `address`; with null, of the only group that has several members. Defines
/// the group at its first use. 0 if there is no such group. Any thread.
std::uint32_t group_id(const void* address);

/// Defines all groups that have been made, so that a trace has them even if none of its calls names one.
void define_groups();

}  // namespace profshim::torch
