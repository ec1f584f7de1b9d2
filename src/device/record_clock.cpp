#include "record_clock.h"

#include <algorithm>

namespace profshim::device {

void RecordClock::add(const Anchor& anchor) {
  if (!anchors_.empty() &&
      (anchor.ticks <= anchors_.back().ticks || anchor.realtime_ns <= anchors_.back().realtime_ns)) {
    return;  // the wall clock was set back: what lies between cannot be told apart
  }
  if (anchors_.size() == kMost) anchors_.erase(anchors_.begin() + 1, anchors_.begin() + kMost / 2);
  anchors_.push_back(anchor);
}

Ticks RecordClock::of(std::uint64_t record_time) const {
  if (direct_ || record_time == 0) return record_time;
  if (anchors_.size() < 2) return 0;
  const auto time = static_cast<std::int64_t>(record_time);
  const auto after = std::upper_bound(anchors_.begin() + 1, anchors_.end() - 1, time,
                                      [](std::int64_t t, const Anchor& a) { return t < a.realtime_ns; });
  const Anchor& from = *(after - 1);
  const Anchor& to = *after;
  const double rate =
      static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.realtime_ns - from.realtime_ns);
  const double ticks = static_cast<double>(time - from.realtime_ns) * rate;
  if (ticks < 0 && -ticks > static_cast<double>(from.ticks)) return 0;
  constexpr double kLatest = 9e18;
  if (ticks > kLatest) return ~Ticks{0};
  return from.ticks + static_cast<Ticks>(static_cast<std::int64_t>(ticks));
}

}  // namespace profshim::device
