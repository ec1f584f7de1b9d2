#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Returns a communicator's world ranks as interned text: "[0, 1, 2]" if `size` and `rank` are those of the job, "[3]"
/// if it has only this process. Otherwise 0.
StringId world_ranks_text(std::int32_t size, std::int32_t rank);

}  // namespace profshim::inject
