// The rule that tells possible times of CUPTI's records from impossible ones. src/device applies it to records, and
// src/kineto to the events made of them: the spool may come from a damaged file.
#pragma once

#include <cstdint>

#include "profshim/base/clock.h"

namespace profshim {

/// Counts the impossible times, by reason.
struct ImpossibleTimes {
  std::uint64_t zero = 0;      // begin or end 0: CUPTI ran out of device memory, or the activity never ended
  std::uint64_t reversed = 0;  // end before begin
  std::uint64_t outside = 0;   // long before the recording began, or in the future

  std::uint64_t all() const { return zero + reversed + outside; }
  bool operator==(const ImpossibleTimes&) const = default;

  /// Returns true if a record can have these times. Otherwise counts the reason. Times in [earliest, latest] are
  /// possible.
  bool admit(Ticks begin, Ticks end, Ticks earliest, Ticks latest) {
    if (begin == 0 || end == 0) {
      ++zero;
    } else if (end < begin) {
      ++reversed;
    } else if (begin < earliest || end > latest) {
      ++outside;
    } else {
      return true;
    }
    return false;
  }
};

}  // namespace profshim
