// The process groups of torch.distributed, of all backends.
#pragma once

#include <cstdint>

namespace profshim::torch {

/// Any thread.
bool is_process_group(const void* address);

/// Returns the Definition id of the group (null: the only group with several members), or 0. Any thread.
std::uint32_t group_id(const void* address);

/// Defines all groups, even those that no call names.
void define_groups();

}  // namespace profshim::torch
