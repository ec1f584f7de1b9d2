// The members of a communicator as ranks of the job.
#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Returns "[0, 1, 2]", interned, if the members are all ranks of the job in order, or this rank alone; else 0
/// (unknown).
StringId world_ranks_text(std::int32_t size, std::int32_t rank);

}  // namespace profshim::inject
