// First step of a window, for schedule and automaton.
#pragma once

#include <cstdint>

#include "profshim/window.h"

namespace profshim::window {

/// Returns the first step of the window that contains `step`, which must be recorded.
std::int64_t first_step_of_window(const Schedule& schedule, std::int64_t step);

}  // namespace profshim::window
