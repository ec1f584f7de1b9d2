// The begin of windows, for schedule and automaton.
#pragma once

#include <cstdint>

#include "profshim/window.h"

namespace profshim::window {

/// First step of the window with `step`, which must be recorded.
std::int64_t first_step_of_window(const Schedule& schedule, std::int64_t step);

}  // namespace profshim::window
