// How far apart two clocks are, from what happened in an order that is certain.
//
// A message is not received before it is sent, and nobody leaves a barrier before the last one has come. Each such pair
// of events, one on either clock, bounds the difference of the clocks at that moment, whoever was late and whatever
// held a rank up; the quickest messages and barriers bound it best. All straight lines that keep to the bounds tell how
// wrong one can be. Which of them it is, the ends of barriers and the like say: a rank that comes late makes the others
// wait, but all leave at about the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profshim::analysis_detail {

/// At `at_ns`, by the clock that is to be corrected, the reference is ahead by `ahead_ns` at the most, or at the least.
struct ClockBound {
  std::int64_t at_ns = 0;
  double ahead_ns = 0;
};

struct ClockFit {
  bool known = false;       // there were bounds of both kinds
  bool consistent = false;  // a line keeps to all of them
  std::int64_t origin_ns = 0;
  double offset_ns = 0;  // to be added to the clock at origin_ns
  double drift = 0;      // and so much more for each nanosecond since
  double error_ns = 0;   // the true difference is within, from first to last moment that was asked for
};

/// Clocks that are disciplined drift apart by less: adjtime() and NTP slew by 500 ppm at the most.
inline constexpr double kMostDrift = 500e-6;

/// `first_ns` to `last_ns`: for which times, by the clock to be corrected, the error is to hold. Where no line keeps to
/// all bounds (a clock was set) the one that breaks them least, and by how much it does is in the error.
/// `ends`: the difference where both clocks show the end of one collective; may be empty.
ClockFit fit_clock(std::span<const ClockBound> at_least, std::span<const ClockBound> at_most,
                   std::span<const ClockBound> ends, std::int64_t first_ns, std::int64_t last_ns);

}  // namespace profshim::analysis_detail
