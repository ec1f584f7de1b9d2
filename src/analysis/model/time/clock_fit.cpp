#include "clock_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {
namespace {

struct Point {
  double t, y;
};

/// If `sign` is 1, returns the lower convex hull of `bounds`. If `sign` is -1, returns the upper hull with negated y.
std::vector<Point> find_hull(std::span<const ClockBound> bounds, std::int64_t origin, int sign) {
  std::vector<Point> points;
  points.reserve(bounds.size());
  for (const ClockBound& b : bounds) points.push_back({static_cast<double>(b.at_ns - origin), sign * b.ahead_ns});
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.t != b.t ? a.t < b.t : a.y < b.y; });
  std::vector<Point> corners;
  for (const Point& p : points) {
    if (!corners.empty() && corners.back().t == p.t) continue;
    while (corners.size() >= 2) {
      const Point &a = corners[corners.size() - 2], &b = corners.back();
      if ((b.y - a.y) * (p.t - a.t) < (p.y - a.y) * (b.t - a.t)) break;
      corners.pop_back();
    }
    corners.push_back(p);
  }
  return corners;
}

class Lines {
 public:
  Lines(std::span<const ClockBound> at_least, std::span<const ClockBound> at_most, std::int64_t origin)
      : above_(find_hull(at_most, origin, 1)), below_(find_hull(at_least, origin, -1)) {}

  /// highest() and lowest() limit a line's value at t = 0. room() is negative if no line with `slope` fits the bounds.
  double highest(double slope) const { return least_offset(above_, slope); }
  double lowest(double slope) const { return -least_offset(below_, -slope); }
  double room(double slope) const { return highest(slope) - lowest(slope); }

  /// `value` must have only one peak.
  template <class Value>
  static double find_peak(double from, double to, const Value& value) {
    constexpr int kTurns = 100;  // enough for double precision
    for (int i = 0; i < kTurns; ++i) {
      const double a = from + (to - from) / 3, b = to - (to - from) / 3;
      (value(a) < value(b) ? from : to) = value(a) < value(b) ? a : b;
    }
    return (from + to) / 2;
  }

  /// Returns the slope closest to `limit` for which a line fits. For `best`, a line must fit.
  double find_last_slope(double best, double limit) const {
    if (room(limit) >= 0) return limit;
    double inside = best, outside = limit;
    for (int i = 0; i < 100; ++i) {
      const double middle = (inside + outside) / 2;
      (room(middle) >= 0 ? inside : outside) = middle;
    }
    return inside;
  }

 private:
  static double least_offset(const std::vector<Point>& points, double slope) {
    double found = INFINITY;
    for (const Point& p : points) found = std::min(found, p.y - slope * p.t);
    return found;
  }
  std::vector<Point> above_, below_;
};

/// Uses medians: a rank that leaves a collective late is an outlier.
class Ends {
 public:
  Ends(std::span<const ClockBound> ends, std::int64_t origin) {
    for (const ClockBound& b : ends) points_.push_back({static_cast<double>(b.at_ns - origin), b.ahead_ns});
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.t < b.t; });
  }
  bool empty() const { return points_.empty(); }
  double slope() const {
    const std::size_t third = points_.size() / 3;
    if (third < kEnough) return 0;
    const auto [t0, y0] = median_point(0, third);
    const auto [t1, y1] = median_point(points_.size() - third, points_.size());
    return t1 > t0 ? (y1 - y0) / (t1 - t0) : 0;
  }
  double offset(double slope) const {
    std::vector<double> values;
    for (const Point& p : points_) values.push_back(p.y - slope * p.t);
    return median(std::move(values));
  }

 private:
  static constexpr std::size_t kEnough = 5;
  Point median_point(std::size_t from, std::size_t to) const {
    std::vector<double> t, y;
    for (std::size_t i = from; i < to; ++i) {
      t.push_back(points_[i].t);
      y.push_back(points_[i].y);
    }
    return {median(std::move(t)), median(std::move(y))};
  }
  std::vector<Point> points_;
};

}  // namespace

ClockFit fit_clock(std::span<const ClockBound> at_least, std::span<const ClockBound> at_most,
                   std::span<const ClockBound> ends, std::int64_t first_ns, std::int64_t last_ns) {
  ClockFit fit;
  if (at_least.empty() || at_most.empty()) return fit;
  fit.known = true;
  fit.origin_ns = first_ns + (last_ns - first_ns) / 2;
  const Lines lines(at_least, at_most, fit.origin_ns);
  const double best = Lines::find_peak(-kMostDrift, kMostDrift, [&](double slope) { return lines.room(slope); });
  fit.consistent = lines.room(best) >= 0;
  if (!fit.consistent) {
    fit.drift = best;
    fit.offset_ns = (lines.highest(best) + lines.lowest(best)) / 2;
    fit.error_ns = -lines.room(best);
    return fit;
  }
  const double from = lines.find_last_slope(best, -kMostDrift), to = lines.find_last_slope(best, kMostDrift);
  const Ends known_ends(ends, fit.origin_ns);
  fit.drift = std::clamp(known_ends.empty() ? 0 : known_ends.slope(), from, to);
  const double highest = lines.highest(fit.drift), lowest = lines.lowest(fit.drift);
  fit.offset_ns =
      known_ends.empty() ? (highest + lowest) / 2 : std::clamp(known_ends.offset(fit.drift), lowest, highest);
  for (const std::int64_t at : {first_ns, last_ns}) {
    const auto t = static_cast<double>(at - fit.origin_ns);
    const double ours = fit.offset_ns + fit.drift * t;
    const auto top = [&](double slope) { return lines.highest(slope) + slope * t; };
    const auto bottom = [&](double slope) { return -lines.lowest(slope) - slope * t; };
    const double most = top(Lines::find_peak(from, to, top)), least = -bottom(Lines::find_peak(from, to, bottom));
    fit.error_ns = std::max({fit.error_ns, most - ours, ours - least});
  }
  return fit;
}

}  // namespace profshim::analysis_detail
