// Writes the members of a communicator as ranks of the job, for its description in the trace.
#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Returns the interned text "[0, 1, 2]" if the members are certain: all ranks of the job in order, or this rank alone.
/// Otherwise 0. `size` and `rank` are those of the communicator.
StringId world_ranks_text(std::int32_t size, std::int32_t rank);

}  // namespace profshim::inject
