#pragma once

#include <cstdint>

#include "profshim/window.h"

namespace profshim::window {

/// `step` must be recorded. Returns the first step of its window.
std::int64_t first_step_of_window(const Schedule& schedule, std::int64_t step);

}  // namespace profshim::window
