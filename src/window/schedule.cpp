#include <algorithm>
#include <limits>

#include "profshim/window.h"

namespace profshim {
namespace {

using Wide = __int128;

struct Position {
  bool recorded_cycle = false;  // past skip_first, and `repeat` is not used up
  Wide cycle = 0;
  Wide in_cycle = 0;
};

Wide cycle_length(const Schedule& s) { return Wide{s.wait} + s.warmup + s.active; }

/// The result, added to every step, removes the wait of the first cycle.
Wide shift(const Schedule& s) { return s.skip_first_wait != 0 ? Wide{s.wait} : Wide{0}; }

Position position(const Schedule& s, std::int64_t step) {
  const Wide length = cycle_length(s);
  if (step < 0 || step < s.skip_first || length <= 0) return {};
  const Wide at = Wide{step} - s.skip_first + shift(s);
  const Wide cycle = at / length;
  return {s.repeat <= 0 || cycle < s.repeat, cycle, at % length};
}

std::vector<StepRange>::const_iterator range_at_or_after(const Schedule& s, std::int64_t step) {
  return std::lower_bound(s.steps.begin(), s.steps.end(), step,
                          [](const StepRange& range, std::int64_t value) { return range.last < value; });
}

bool in_list(const Schedule& s, std::int64_t step) {
  const auto range = range_at_or_after(s, step);
  return range != s.steps.end() && range->first <= step;
}

Action action_in_list(const Schedule& s, std::int64_t step) {
  const auto range = range_at_or_after(s, step);
  if (range == s.steps.end()) return Action::kNone;
  if (range->first <= step) {
    return !s.continuous || step == range->last ? Action::kRecordAndSave : Action::kRecord;
  }
  return step >= 0 && range->first - 1 == step ? Action::kWarmup : Action::kNone;
}

std::optional<std::int64_t> narrow(Wide step) {
  if (step > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(step);
}

}  // namespace

char letter(Action action) {
  switch (action) {
    case Action::kNone:
      return 'N';
    case Action::kWarmup:
      return 'W';
    case Action::kRecord:
      return 'R';
    case Action::kRecordAndSave:
      return 'S';
  }
  return '?';
}

Action Schedule::action_of(std::int64_t step) const {
  if (!steps.empty()) return action_in_list(*this, step);
  const Position at = position(*this, step);
  if (!at.recorded_cycle || at.in_cycle < wait) return Action::kNone;
  if (at.in_cycle < Wide{wait} + warmup) return Action::kWarmup;
  return at.in_cycle < cycle_length(*this) - 1 ? Action::kRecord : Action::kRecordAndSave;
}

bool Schedule::is_over(std::int64_t step) const {
  if (!steps.empty()) return step > steps.back().last;
  if (repeat <= 0) return false;
  // Compares cycles, since repeat * length may overflow.
  return step >= skip_first && position(*this, step).cycle >= repeat;
}

std::optional<std::int64_t> Schedule::next_recorded(std::int64_t step) const {
  if (!steps.empty()) {
    const auto range = range_at_or_after(*this, step);
    if (range == steps.end()) return std::nullopt;
    return std::max(step, range->first);
  }
  const std::int64_t from = std::max({step, skip_first, std::int64_t{0}});
  const Position at = position(*this, from);
  const Wide first_recorded = Wide{wait} + warmup;
  if (!at.recorded_cycle) return std::nullopt;
  return narrow(at.in_cycle >= first_recorded ? Wide{from} : Wide{from} + first_recorded - at.in_cycle);
}

std::int64_t Schedule::first_of_window(std::int64_t step) const {
  if (!steps.empty()) {
    const auto range = range_at_or_after(*this, step);
    return continuous && in_list(*this, step) ? range->first : step;
  }
  const Position at = position(*this, step);
  return static_cast<std::int64_t>(Wide{step} - (at.in_cycle - wait - warmup));
}

}  // namespace profshim
