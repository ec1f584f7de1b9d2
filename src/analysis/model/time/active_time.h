#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/model/timeline.h"
#include "intervals.h"

namespace profshim::analysis_detail {

struct ActiveTime {
  std::vector<Interval> busy;
  std::vector<Interval> compute;  // kernels that do not communicate
  std::vector<Interval> communication;

  void append(const ActiveTime& more);
  /// Call this after the last interval, and before the functions below.
  void merge();
  ActiveTime part_between(std::int64_t begin_ns, std::int64_t end_ns) const;
  double exposed_communication_ns() const;
};

/// Keys are device numbers. Call merge() on each value.
std::map<std::int64_t, ActiveTime> device_activity(const Timeline& timeline);

}  // namespace profshim::analysis_detail
