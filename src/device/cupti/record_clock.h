#pragma once

#include <cstdint>
#include <vector>

#include "profshim/base/clock.h"

namespace profshim::device {

/// Converts times of CUPTI's records to ticks. Even if CUPTI has a timestamp callback, some records have times of
/// CLOCK_REALTIME or CLOCK_MONOTONIC (pytorch#192021).
class RecordClock {
 public:
  using Foreign = std::uint64_t (*)();
  /// `ours`: CUPTI has our timestamp callback.
  void use_ticks(bool ours) { ours_ = ours; }
  /// `clock`: another client's timestamp callback, called by add(); null = none.
  void use_foreign(Foreign clock);
  bool has_foreign() const { return foreign_ != nullptr; }
  const char* name() const;
  /// Conversion needs two readings. Ignores `anchor` if its ticks or CLOCK_REALTIME did not rise.
  void add(const Anchor& anchor);
  /// Tries the current clock, then all others, until the result is inside [earliest, latest]; else returns the first
  /// result. 0 = cannot convert.
  Ticks ticks_of(std::uint64_t record_time, Ticks earliest, Ticks latest) const;

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
  std::size_t foreign_since_ = 0;  // index of the first moment with foreign_
  Foreign foreign_ = nullptr;
  bool ours_ = false;
};

}  // namespace profshim::device
