#include "profshim/window.h"
#include "window_bounds.h"

namespace profshim {
namespace {

bool is_recorded(Action action) { return action == Action::kRecord || action == Action::kRecordAndSave; }

}  // namespace

// Absolute step numbers may jump (resumed job) or go back (restarted loop). Going back closes the window.
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

// on_step() does not reopen the closed window for its remaining steps.
void WindowAutomaton::closed_by_limit() { open_ = false; }

}  // namespace profshim
