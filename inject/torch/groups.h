// The process groups of torch.distributed: seen when they are made, whatever their backend.
#pragma once

#include <cstdint>

namespace profshim::torch {

bool is_process_group(const void* address);

/// Definition id of the group at `address`; null = of the only one that has several members. 0 = not known. Defines it
/// where that has not been done. Any thread.
std::uint32_t group_id(const void* address);

/// Defines all that have been made: a trace names them also where no call has shown which one it is of.
void define_groups();

}  // namespace profshim::torch
