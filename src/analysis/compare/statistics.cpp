#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::size_t kFewest = 3;
constexpr std::size_t kMaxExact = 30;  // for larger samples, the normal approximation is as good

// Returns the share of orders of n + m samples with U >= `u` (Mann and Whitney's recursion).
double exact_tail(std::size_t n, std::size_t m, std::size_t u) {
  // After round j, ways[i][v] counts orders of i and j samples with U = v.
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(n * m + 1, 0));
  for (std::size_t i = 0; i <= n; ++i) ways[i][0] = 1;
  for (std::size_t j = 1; j <= m; ++j) {
    for (std::size_t i = 1; i <= n; ++i) {
      for (std::size_t v = n * m + 1; v-- > 0;) ways[i][v] += v >= j ? ways[i - 1][v - j] : 0;
    }
  }
  const auto& all = ways[n];
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  return std::accumulate(all.begin() + static_cast<std::ptrdiff_t>(u), all.end(), 0.0) / sum;
}

}  // namespace

double longer_p(const std::vector<double>& shorter, const std::vector<double>& longer) {
  const std::size_t n = longer.size(), m = shorter.size();
  if (n == 0 || m == 0) return 1;
  double u = 0;  // pairs whose `longer` sample is larger; a tie counts half
  for (const double a : longer) {
    for (const double b : shorter) u += a > b ? 1 : a == b ? 0.5 : 0;
  }
  std::vector<double> all = shorter;
  all.insert(all.end(), longer.begin(), longer.end());
  std::sort(all.begin(), all.end());
  double ties = 0;
  for (std::size_t i = 0; i < all.size();) {
    const auto end = static_cast<std::size_t>(std::upper_bound(all.begin(), all.end(), all[i]) - all.begin());
    const double t = static_cast<double>(end - i);
    ties += t * t * t - t;
    i = end;
  }
  if (ties == 0 && n <= kMaxExact && m <= kMaxExact) return exact_tail(n, m, static_cast<std::size_t>(u));
  const double a = static_cast<double>(n), b = static_cast<double>(m), total = a + b;
  const double variance = a * b / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return 1;
  return 0.5 * std::erfc((u - a * b / 2 - 0.5) / std::sqrt(variance) / std::sqrt(2.0));
}

// Integrates by Simpson's rule. With t = tan(angle) * sqrt(freedom), the density is proportional to
// cos(angle)^(freedom - 1).
double student_tail(double t, std::size_t freedom) {
  constexpr int kParts = 2000;
  const double quarter = std::acos(-1.0) / 2, power = static_cast<double>(freedom) - 1;
  const auto area = [&](double from) {
    const double width = (quarter - from) / kParts;
    double sum = 0;
    for (int i = 0; i <= kParts; ++i) {
      const double weight = i == 0 || i == kParts ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * std::pow(std::max(std::cos(from + i * width), 0.0), power);
    }
    return sum * width / 3;
  };
  return 0.5 * area(std::atan(t / std::sqrt(static_cast<double>(freedom)))) / area(0);
}

double least_p(std::size_t n, std::size_t m) {
  double p = 1;
  for (std::size_t i = 1; i <= n; ++i) p *= static_cast<double>(i) / static_cast<double>(m + i);
  return p;
}

std::size_t steps_needed(double alpha, std::size_t rows) {
  std::size_t n = kFewest;
  while (n < 1000 && least_p(n, n) > alpha / static_cast<double>(std::max<std::size_t>(rows, 1))) ++n;
  return n;
}

bool in_every_third(const std::vector<double>& shorter, const std::vector<double>& longer) {
  if (shorter.size() < kFewest || longer.size() < kFewest) return false;
  const auto thirds = [](const std::vector<double>& values) {
    std::vector<double> medians;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto at = [&](std::size_t k) {
        return values.begin() + static_cast<std::ptrdiff_t>(k * values.size() / 3);
      };
      medians.push_back(median({at(i), at(i + 1)}));
    }
    return medians;
  };
  return std::ranges::min(thirds(longer)) > std::ranges::max(thirds(shorter));
}

std::vector<bool> holm(const std::vector<double>& p, double alpha) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<bool> rejected(p.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p[order[i]] > alpha / static_cast<double>(p.size() - i)) break;
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace profshim::analysis_detail
