#pragma once

#include <cstdint>

#include "profshim/window.h"

namespace profshim::window {

/// `step` must be recorded.
std::int64_t first_step_of_window(const Schedule& schedule, std::int64_t step);

}  // namespace profshim::window
