#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace profshim::analysis_detail {

inline double to_us(double ns) { return ns / 1000; }
inline double to_us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

/// Returns a + b, limited to the years 1896 to 2116: no difference of two such sums overflows.
constexpr std::int64_t bounded_sum(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kLatest = std::int64_t{1} << 62, kEarliest = -(std::int64_t{1} << 61);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) sum = b > 0 ? kLatest : kEarliest;
  return sum > kLatest ? kLatest : sum < kEarliest ? kEarliest : sum;
}

inline std::int64_t difference(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

struct Statistics {
  std::int64_t count = 0;
  double total_us = 0, min_us = 0, max_us = 0, mean_us = 0, p50_us = 0, p95_us = 0;
  double trimmed_mean_us = 0;  // without the shortest and longest tenth
};

/// Percentiles are nearest-rank.
inline Statistics statistics(std::vector<std::int64_t> durations_ns) {
  Statistics s;
  if (durations_ns.empty()) return s;
  std::sort(durations_ns.begin(), durations_ns.end());
  const std::size_t n = durations_ns.size(), cut = n / 10;
  const auto sum = [&](std::size_t from, std::size_t to) {
    double ns = 0;
    for (std::size_t i = from; i < to; ++i) ns += static_cast<double>(durations_ns[i]);
    return ns;
  };
  const auto percentile = [&](double p) {
    const auto at = static_cast<std::size_t>(std::ceil(p * static_cast<double>(n)));
    return to_us(durations_ns[std::clamp<std::size_t>(at, 1, n) - 1]);
  };
  s.count = static_cast<std::int64_t>(n);
  s.total_us = to_us(sum(0, n));
  s.min_us = to_us(durations_ns.front());
  s.max_us = to_us(durations_ns.back());
  s.mean_us = s.total_us / static_cast<double>(n);
  s.p50_us = percentile(0.50);
  s.p95_us = percentile(0.95);
  s.trimmed_mean_us = to_us(sum(cut, n - cut)) / static_cast<double>(n - 2 * cut);
  return s;
}

}  // namespace profshim::analysis_detail
