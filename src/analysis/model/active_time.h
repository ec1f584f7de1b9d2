// The times during which devices, or a thread, were active, as sorted disjoint intervals: activity on two streams at a
// time counts once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "intervals.h"
#include "timeline.h"

namespace profshim::analysis_detail {

struct ActiveTime {
  std::vector<Interval> busy;     // any activity
  std::vector<Interval> compute;  // on devices: kernels that do not communicate; copies and memsets are only in busy
  std::vector<Interval> communication;  // on devices: kernels that communicate

  void append(const ActiveTime& more);
  /// Sorts the intervals and joins those that overlap. Needed after the last interval was added.
  void merge();
  /// Returns the part between two times.
  ActiveTime between(std::int64_t begin_ns, std::int64_t end_ns) const;
  /// Returns how long there was communication without computation, in nanoseconds.
  double exposed_communication_ns() const;
};

/// Returns the device activity of a timeline by device, not yet merged. A kernel communicates if it has arguments of a
/// collective, or the name of a collective kernel.
std::map<std::int64_t, ActiveTime> device_activity(const Timeline& timeline);

}  // namespace profshim::analysis_detail
