// The times in CUPTI's records, as ticks of our clock.
#pragma once

#include <cstdint>
#include <vector>

#include "profshim/base/clock.h"

namespace profshim::device {

/// A record's time is of one of three clocks: ours, where CUPTI has our timestamp callback; another client's, where it
/// has registered its own; else CLOCK_REALTIME. CUPTI also gives single records times of a clock of its own although a
/// callback is registered: CLOCK_REALTIME, or CLOCK_MONOTONIC (pytorch#192021 names none, and a difference of about a
/// day). So each time is taken as one of the first clock by which it lies in the recording. Device thread.
class RecordClock {
 public:
  using Foreign = std::uint64_t (*)();
  /// CUPTI has our callback, or does not.
  void use_ticks(bool ours) { ours_ = ours; }
  /// Another client's callback is in force; null = none. It is called from here on, as CUPTI calls it.
  void use_foreign(Foreign clock);
  bool has_foreign() const { return foreign_ != nullptr; }
  /// "ours", "realtime, converted" or "another client's, converted".
  const char* name() const;
  /// A moment that is known on all clocks; in rising order. Two at least before the first conversion.
  void add(const Anchor& anchor);
  /// Times outside [earliest, latest] are impossible.
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
