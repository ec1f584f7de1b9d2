#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Returns the interned text "[0, 1, 2]" if a communicator has all ranks of the job in order, or this rank alone;
/// otherwise 0.
StringId world_ranks_text(std::int32_t size, std::int32_t rank);

}  // namespace profshim::inject
