// Estimates offset and drift between two clocks from events whose order is certain.
//
// A message is received after it is sent, and no rank leaves a barrier before the last one has entered. Each such pair
// of events, one on each clock, bounds the difference of the clocks at that time, no matter which rank was late; the
// quickest messages and barriers give the tightest bounds. The set of straight lines within all bounds gives the error.
// The ends of collectives choose the line: a late rank makes the others wait, but all leave at about the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profshim::analysis_detail {

/// At `at_ns`, by the clock to be corrected, the reference clock is ahead by at most, or at least, `ahead_ns`.
struct ClockBound {
  std::int64_t at_ns = 0;
  double ahead_ns = 0;
};

struct ClockFit {
  bool known = false;       // there were bounds of both kinds
  bool consistent = false;  // a line is within all bounds
  std::int64_t origin_ns = 0;
  double offset_ns = 0;  // add to the clock at origin_ns
  double drift = 0;      // add for each nanosecond since origin_ns
  double error_ns = 0;   // bound of the error, from first_ns to last_ns
};

/// Disciplined clocks drift apart by less: adjtime() and NTP slew by at most 500 ppm.
inline constexpr double kMostDrift = 500e-6;

/// The error holds from `first_ns` to `last_ns`, by the clock to be corrected. `ends` are the differences at which both
/// clocks show the end of the same collective; may be empty. If no line is within all bounds (a clock was set), returns
/// the line that breaks them least, and by how much as the error.
ClockFit fit_clock(std::span<const ClockBound> at_least, std::span<const ClockBound> at_most,
                   std::span<const ClockBound> ends, std::int64_t first_ns, std::int64_t last_ns);

}  // namespace profshim::analysis_detail
