#include "profshim/window.h"

namespace profshim {

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
