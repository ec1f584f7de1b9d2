// RecordClock: converts the times in CUPTI's records to ticks of our clock. Device thread.
#pragma once

#include <cstdint>
#include <vector>

#include "profshim/base/clock.h"

namespace profshim::device {

/// A time in a record is from one of three clocks: ours, if CUPTI has our timestamp callback; another client's, if that
/// has registered its own; otherwise CLOCK_REALTIME. Even with a callback, CUPTI gives single records times of
/// CLOCK_REALTIME or CLOCK_MONOTONIC (pytorch#192021 does not name the clock, but a difference of about a day). So each
/// time is taken as a time of the first clock by which it lies in the recording.
class RecordClock {
 public:
  using Foreign = std::uint64_t (*)();
  /// Says whether CUPTI has our callback.
  void use_ticks(bool ours) { ours_ = ours; }
  /// Says that another client's callback is in force; null = none. add() calls it, as CUPTI does.
  void use_foreign(Foreign clock);
  bool has_foreign() const { return foreign_ != nullptr; }
  /// Returns "ours", "realtime, converted" or "another client's, converted".
  const char* name() const;
  /// Adds a moment that is known on all clocks. Moments come in rising order; conversion needs two.
  void add(const Anchor& anchor);
  /// Converts a time. [earliest, latest] are the possible results, by which the clock is chosen; the result may still
  /// lie outside. Returns 0 if the time cannot be converted.
  Ticks of(std::uint64_t record_time, Ticks earliest, Ticks latest) const;

 private:
  struct Moment {
    Ticks ticks;
    std::int64_t realtime, monotonic, foreign;
  };
  enum class Source : std::uint8_t { kTicks, kForeign, kRealtime, kMonotonic };
  Source in_force() const;
  Ticks convert(Source source, std::uint64_t record_time) const;
  Ticks interpolate(std::int64_t Moment::*clock, std::int64_t time, std::size_t first) const;

  static constexpr std::size_t kMost = 256;
  std::vector<Moment> moments_;
  std::size_t foreign_since_ = 0;  // the first moment that is known on the foreign clock
  Foreign foreign_ = nullptr;
  bool ours_ = false;
};

}  // namespace profshim::device
