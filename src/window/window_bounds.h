// The begin of windows, shared by the schedule and the automaton.
#pragma once

#include <cstdint>

#include "profshim/window.h"

namespace profshim::window {

/// Returns the first step of the window that holds `step`, which must be a recorded step.
std::int64_t first_step_of_window(const Schedule& schedule, std::int64_t step);

}  // namespace profshim::window
