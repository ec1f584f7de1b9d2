// The windows a schedule makes of a job of so many steps.
#pragma once

#include <cstdint>
#include <vector>

#include "profshim/window.h"

namespace profshim::cli {

struct PlannedWindow {
  std::int64_t first = 0, last = 0;
  bool complete = true;  // false: the job ends inside it
};
/// At most `most` of them.
std::vector<PlannedWindow> planned_windows(const Schedule& schedule, std::int64_t steps, std::size_t most);

}  // namespace profshim::cli
