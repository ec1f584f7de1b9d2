// Times in which a device or a thread was active. Overlapping activity counts once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "intervals.h"
#include "timeline.h"

namespace profshim::analysis_detail {

struct ActiveTime {
  std::vector<Interval> busy;
  std::vector<Interval> compute;  // without communication; copies and memsets are only in busy
  std::vector<Interval> communication;

  void append(const ActiveTime& more);
  /// Call after the last interval was added.
  void merge();
  ActiveTime between(std::int64_t begin_ns, std::int64_t end_ns) const;
  double exposed_communication_ns() const;
};

/// Returns each device's activity, before merge(). Kernels with a collective's arguments or name are communication.
std::map<std::int64_t, ActiveTime> device_activity(const Timeline& timeline);

}  // namespace profshim::analysis_detail
