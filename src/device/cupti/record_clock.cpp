#include "record_clock.h"

#include <algorithm>

namespace profshim::device {

void RecordClock::use_foreign(Foreign clock) {
  if (clock == foreign_) return;
  foreign_ = clock;
  foreign_since_ = moments_.size();
}

RecordClock::Source RecordClock::in_force() const {
  if (foreign_ != nullptr) return Source::kForeign;
  return ours_ ? Source::kTicks : Source::kRealtime;
}

const char* RecordClock::name() const {
  switch (in_force()) {
    case Source::kTicks:
      return "ours";
    case Source::kForeign:
      return "another client's, converted";
    case Source::kRealtime:
    case Source::kMonotonic:
      break;
  }
  return "realtime, converted";
}

void RecordClock::add(const Anchor& anchor) {
  if (!moments_.empty() && (anchor.ticks <= moments_.back().ticks || anchor.realtime_ns <= moments_.back().realtime)) {
    return;
  }
  if (moments_.size() == kMost) {
    const std::size_t erased = kMost / 2 - 1;
    moments_.erase(moments_.begin() + 1, moments_.begin() + 1 + erased);
    foreign_since_ = foreign_since_ > erased ? foreign_since_ - erased : std::min<std::size_t>(foreign_since_, 1);
  }
  const std::int64_t foreign = foreign_ != nullptr ? static_cast<std::int64_t>(foreign_()) : 0;
  moments_.push_back({anchor.ticks, anchor.realtime_ns, anchor.monotonic_ns, foreign});
}

Ticks RecordClock::ticks_of(std::uint64_t record_time, Ticks earliest, Ticks latest) const {
  if (record_time == 0) return 0;
  const Ticks expected = convert(in_force(), record_time);
  if (expected >= earliest && expected <= latest) return expected;
  for (const Source other : {Source::kTicks, Source::kForeign, Source::kRealtime, Source::kMonotonic}) {
    const Ticks possible = convert(other, record_time);
    if (possible >= earliest && possible <= latest) return possible;
  }
  return expected;
}

Ticks RecordClock::convert(Source source, std::uint64_t record_time) const {
  const auto time = static_cast<std::int64_t>(record_time);
  switch (source) {
    case Source::kTicks:
      return record_time;
    case Source::kForeign:
      return foreign_ != nullptr ? interpolate(&Moment::foreign, time, foreign_since_) : 0;
    case Source::kMonotonic:
      return interpolate(&Moment::monotonic, time, 0);
    case Source::kRealtime:
      break;
  }
  return interpolate(&Moment::realtime, time, 0);
}

Ticks RecordClock::interpolate(std::int64_t Moment::*clock, std::int64_t time, std::size_t first) const {
  if (moments_.size() < first + 2) return 0;
  const auto begin = moments_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto after = std::upper_bound(begin + 1, moments_.end() - 1, time,
                                      [clock](std::int64_t t, const Moment& moment) { return t < moment.*clock; });
  const Moment& from = *(after - 1);
  const Moment& to = *after;
  const auto passed = static_cast<double>(to.*clock - from.*clock);
  if (passed <= 0) return 0;
  const double rate = static_cast<double>(to.ticks - from.ticks) / passed;
  const double ticks = (static_cast<double>(time) - static_cast<double>(from.*clock)) * rate;
  if (ticks < 0 && -ticks > static_cast<double>(from.ticks)) return 0;
  constexpr double kLatest = 9e18;
  if (ticks > kLatest) return ~Ticks{0};
  return from.ticks + static_cast<Ticks>(static_cast<std::int64_t>(ticks));
}

}  // namespace profshim::device
