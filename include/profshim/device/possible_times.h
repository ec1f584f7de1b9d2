#pragma once

#include <cstdint>

#include "profshim/base/clock.h"

namespace profshim {

/// Counts CUPTI's records with impossible times.
struct ImpossibleTimes {
  std::uint64_t zero = 0;  // begin or end 0: CUPTI ran out of device memory, or the activity never ended
  std::uint64_t reversed = 0;
  std::uint64_t outside = 0;

  std::uint64_t all() const { return zero + reversed + outside; }
  bool operator==(const ImpossibleTimes&) const = default;

  /// Returns false, and counts the reason, if the times are impossible.
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
