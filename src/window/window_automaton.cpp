// Turns the schedule's actions into windows that open and close.
#include "profshim/window.h"
#include "window_bounds.h"

namespace profshim {
namespace {

bool is_recorded(Action action) { return action == Action::kRecord || action == Action::kRecordAndSave; }

}  // namespace

// Steps need not be consecutive: absolute numbers jump after a resume and go back if a loop starts again. A window
// lasts as long as the steps increase and belong to the same window of the schedule.
Transition WindowAutomaton::on_step(std::int64_t step) {
  const Action action = schedule_.action_of(step);
  const bool recorded = is_recorded(action);
  const std::int64_t first = recorded ? window::first_step_of_window(schedule_, step) : 0;
  const bool same_window = recorded && is_recorded(last_) && first == window_first_ && step >= last_step_;

  Transition transition;
  transition.close = open_ && !same_window;
  transition.open = recorded && !same_window;
  open_ = (open_ && !transition.close) || transition.open;
  transition.armed = open_ || action == Action::kWarmup;

  last_ = action;
  last_step_ = step;
  window_first_ = first;
  return transition;
}

// The remaining steps still belong to the closed window, which on_step() does not open again.
void WindowAutomaton::closed_by_limit() { open_ = false; }

}  // namespace profshim
