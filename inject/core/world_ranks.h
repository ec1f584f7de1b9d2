// The members of a communicator as ranks of the job.
#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// "[0, 1, 2]" where the members are certain: all ranks of the job in their own order, or this one alone; else 0.
/// `rank` is this one's in the communicator.
StringId world_ranks_text(std::int32_t size, std::int32_t rank);

}  // namespace profshim::inject
