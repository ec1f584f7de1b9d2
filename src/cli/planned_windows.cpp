#include "planned_windows.h"

namespace profshim::cli {

std::vector<PlannedWindow> planned_windows(const Schedule& schedule, std::int64_t steps, std::size_t most) {
  std::vector<PlannedWindow> windows;
  WindowAutomaton automaton(schedule);
  for (std::int64_t step = 0; step < steps;) {
    const Transition transition = automaton.on_step(step);
    if (transition.open) {
      if (windows.size() >= most) return windows;
      windows.push_back({step, step, false});
    }
    if (automaton.open()) {
      windows.back().last = step;
      windows.back().complete = schedule.action_of(step) == Action::kRecordAndSave;
      ++step;
      continue;
    }
    // Nothing between here and the next recorded step opens a window.
    const auto next = schedule.next_recorded(step + 1);
    if (!next) break;
    step = *next;
  }
  return windows;
}

}  // namespace profshim::cli
