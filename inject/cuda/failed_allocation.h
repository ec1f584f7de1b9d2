#pragma once

#include <cstdint>

namespace profshim::cuda {

/// Call when an allocation has failed for want of memory, on its thread. `caller`: an address in the code that asked.
void note_failed_allocation(std::uint64_t bytes, const void* caller);

}  // namespace profshim::cuda
