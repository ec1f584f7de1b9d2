#include "planned_windows.h"

#include <algorithm>
#include <limits>

namespace profshim::cli {
namespace {

/// Does not iterate over steps: a window may hold very many.
std::int64_t last_step_of(const Schedule& schedule, std::int64_t first) {
  if (schedule.steps.empty()) {
    std::int64_t last = 0;
    return __builtin_add_overflow(first, schedule.active - 1, &last) ? std::numeric_limits<std::int64_t>::max() : last;
  }
  if (!schedule.continuous) return first;
  return std::lower_bound(schedule.steps.begin(), schedule.steps.end(), first,
                          [](const StepRange& range, std::int64_t step) { return range.last < step; })
      ->last;
}

}  // namespace

std::vector<PlannedWindow> planned_windows(const Schedule& schedule, std::int64_t steps, std::size_t most) {
  std::vector<PlannedWindow> windows;
  auto first = schedule.next_recorded(0);
  while (first && *first < steps && windows.size() < most) {
    const std::int64_t last = last_step_of(schedule, *first);
    windows.push_back({*first, std::min(last, steps - 1), last < steps});
    if (last >= steps) break;
    first = schedule.next_recorded(last + 1);
  }
  return windows;
}

}  // namespace profshim::cli
