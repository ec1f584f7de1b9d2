// Sets of time as sorted, disjoint intervals, in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {

struct Interval {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Interval&) const = default;
};

inline std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& next : intervals) {
    if (next.end <= next.begin) continue;
    if (!result.empty() && next.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, next.end);
    } else {
      result.push_back(next);
    }
  }
  return result;
}

inline std::vector<Interval> clipped(const std::vector<Interval>& set, std::int64_t begin, std::int64_t end) {
  auto at = std::partition_point(set.begin(), set.end(), [=](const Interval& i) { return i.end <= begin; });
  std::vector<Interval> part;
  for (; at != set.end() && at->begin < end; ++at) part.push_back({std::max(at->begin, begin), std::min(at->end, end)});
  return part;
}

inline double covered(const std::vector<Interval>& set) {
  double sum = 0;
  for (const Interval& i : set) sum += static_cast<double>(difference(i.end, i.begin));
  return sum;
}

/// Returns the length of the intersection.
inline double common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::int64_t begin = std::max(a[i].begin, b[j].begin), end = std::min(a[i].end, b[j].end);
    if (begin < end) sum += static_cast<double>(difference(end, begin));
    a[i].end < b[j].end ? ++i : ++j;
  }
  return sum;
}

}  // namespace profshim::analysis_detail
