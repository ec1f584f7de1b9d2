// Estimates offset and drift between two ranks' clocks.
//
// A message is received after it is sent, and no rank leaves a barrier before the last has entered. Such pairs of times
// bound the difference of the clocks. All ranks leave a collective at about the same time: the ends select one of the
// lines (offset and drift) within the bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profshim::analysis_detail {

/// At `at_ns` of the clock to correct, the reference clock is ahead by at least (or at most) `ahead_ns`.
struct ClockBound {
  std::int64_t at_ns = 0;
  double ahead_ns = 0;
};

struct ClockFit {
  bool known = false;       // at_least and at_most have bounds
  bool consistent = false;  // a line fits all bounds
  std::int64_t origin_ns = 0;
  double offset_ns = 0;  // reference minus this clock, at origin_ns
  double drift = 0;      // nanoseconds per nanosecond
  double error_ns = 0;   // upper bound between first_ns and last_ns
};

/// adjtime() and NTP slew by at most 500 ppm.
inline constexpr double kMostDrift = 500e-6;

/// `ends`: clock differences at the ends of collectives; may be empty. If no line fits (a clock was set), returns the
/// line that violates the bounds least, with the excess as error_ns.
ClockFit fit_clock(std::span<const ClockBound> at_least, std::span<const ClockBound> at_most,
                   std::span<const ClockBound> ends, std::int64_t first_ns, std::int64_t last_ns);

}  // namespace profshim::analysis_detail
