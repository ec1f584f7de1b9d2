#pragma once

#include <cstdint>
#include <vector>

#include "profshim/window.h"

namespace profshim::cli {

struct PlannedWindow {
  std::int64_t first = 0, last = 0;
  bool complete = true;  // ends before `steps`
};
std::vector<PlannedWindow> planned_windows(const Schedule& schedule, std::int64_t steps, std::size_t most);

}  // namespace profshim::cli
