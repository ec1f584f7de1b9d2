// The members of a communicator as ranks of the job.
#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Returns "[0, 1, 2]", interned, for all ranks in order or this rank alone; else 0, as uncertain.
StringId world_ranks_text(std::int32_t size, std::int32_t rank);

}  // namespace profshim::inject
