#include "profshim/window.h"

namespace profshim {
namespace {

bool is_recorded(Action action) { return action == Action::kRecord || action == Action::kRecordAndSave; }

}  // namespace

// Absolute step numbers may jump (resumed job) or go back (restarted loop). Going back closes the window.
Transition WindowAutomaton::on_step(std::int64_t step) {
  const Action action = schedule_.action_of(step);
  const bool recorded = is_recorded(action);
  const std::int64_t first = recorded ? schedule_.first_of_window(step) : 0;
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

StepCounter::Step StepCounter::step_at(std::int64_t index, std::optional<std::int64_t> number) const {
  const std::int64_t true_number = number ? *number : rules_.first + index;
  return {index, rules_.absolute ? true_number : index - epoch_start_, true_number};
}

void StepCounter::skip(std::int64_t markers, bool shifts) {
  markers_ = markers;
  index_ = rules_.at_end ? markers / rules_.every : (markers + rules_.every - 1) / rules_.every;
  if (shifts) epoch_start_ = index_;
}

std::optional<StepCounter::Step> StepCounter::on_marker(std::int64_t now_ns, std::optional<std::int64_t> number) {
  if (any_ && now_ns >= last_ns_ && now_ns - last_ns_ < rules_.min_interval_ns) return std::nullopt;
  any_ = true;
  last_ns_ = now_ns;
  if (!rules_.at_end) {
    if (markers_++ % rules_.every != 0) return std::nullopt;
    return step_at(index_++, number);
  }
  if (++markers_ % rules_.every != 0) return std::nullopt;
  if (number) *number += 1;
  return step_at(++index_, number);
}

void StepCounter::on_epoch(std::optional<std::int64_t> number) {
  epoch_ = number ? *number : any_epoch_ ? epoch_ + 1 : 0;
  any_epoch_ = true;
  if (!rules_.per_epoch) return;
  epoch_start_ = index_;
  markers_ = 0;  // the next marker counts as the first of `every`
}

}  // namespace profshim
