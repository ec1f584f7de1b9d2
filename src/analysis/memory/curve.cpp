#include "curve.h"

#include <algorithm>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {
namespace {

void add_extremes(const std::vector<std::int64_t>& values, std::size_t from, std::size_t to,
                  std::vector<std::uint32_t>& points) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from),
             end = values.begin() + static_cast<std::ptrdiff_t>(to);
  for (const auto at : {std::min_element(begin, end), std::max_element(begin, end)}) {
    points.push_back(static_cast<std::uint32_t>(at - values.begin()));
  }
}

/// Keeps the first of `peaks` that are close to each other.
std::vector<std::uint32_t> far_apart(const std::vector<std::int64_t>& times, const std::vector<std::uint32_t>& peaks,
                                     std::size_t most) {
  const std::int64_t least = difference(times.back(), times.front()) / 50;
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < peaks.size() && kept.size() < most; ++i) {
    const std::int64_t at = times[peaks[i]];
    const bool is_close = std::any_of(kept.begin(), kept.end(), [&](std::uint32_t one) {
      return difference(std::max(at, times[one]), std::min(at, times[one])) < least;
    });
    if (!is_close) kept.push_back(peaks[i]);
  }
  return kept;
}

}  // namespace

std::vector<std::uint32_t> peaks_of(const std::vector<std::int64_t>& times, const std::vector<std::int64_t>& values,
                                    std::size_t most) {
  if (values.empty()) return {};
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  const std::int64_t fall = std::max<std::int64_t>(difference(*highest, *lowest) / 10, 1);
  std::vector<std::uint32_t> peaks;
  std::uint32_t top = 0, bottom = 0;
  bool rises = true;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (rises) {
      if (values[i] > values[top]) top = i;
      if (values[top] - values[i] < fall) continue;
      peaks.push_back(top);
      bottom = i;
      rises = false;
    } else {
      if (values[i] < values[bottom]) bottom = i;
      if (values[i] - values[bottom] < fall) continue;
      top = i;
      rises = true;
    }
  }
  if (rises) peaks.push_back(top);
  std::stable_sort(peaks.begin(), peaks.end(), [&](std::uint32_t a, std::uint32_t b) { return values[a] > values[b]; });
  return far_apart(times, peaks, most);
}

std::vector<std::uint32_t> points_of(const std::vector<std::int64_t>& times,
                                     const std::vector<const std::vector<std::int64_t>*>& curves,
                                     std::size_t intervals) {
  std::vector<std::uint32_t> points;
  if (times.empty()) return points;
  const std::int64_t length =
      std::max<std::int64_t>(difference(times.back(), times.front()) / static_cast<std::int64_t>(intervals), 0) + 1;
  for (std::size_t from = 0; from < times.size();) {
    const std::int64_t interval = difference(times[from], times.front()) / length;
    std::size_t to = from + 1;
    while (to < times.size() && difference(times[to], times.front()) / length == interval) ++to;
    points.push_back(static_cast<std::uint32_t>(from));
    for (const auto* const curve : curves) add_extremes(*curve, from, to, points);
    points.push_back(static_cast<std::uint32_t>(to - 1));
    from = to;
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace profshim::analysis_detail
