#include "bursts.h"

#include <algorithm>
#include <cstdint>

namespace profshim::loop {
namespace {

constexpr std::int64_t kLongGap = 5;  // times the median gap
constexpr std::size_t kFewBursts = 5;
constexpr double kNearlyAll = 0.9;

}  // namespace

std::size_t calls_in_burst(const std::vector<Call>& equal) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < equal.size(); ++i) gaps.push_back(equal[i].begin_ns - equal[i - 1].end_ns);
  if (gaps.empty()) return 1;
  std::vector<std::int64_t> sorted = gaps;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const std::int64_t least = kLongGap * std::max<std::int64_t>(1, sorted[sorted.size() / 2]);
  std::vector<std::size_t> lengths;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] < least) continue;
    lengths.push_back(i + 1 - begin);
    begin = i + 1;
  }
  if (lengths.size() < kFewBursts) return 1;
  std::vector<std::size_t> ordered = lengths;
  std::sort(ordered.begin(), ordered.end());
  const std::size_t usual = ordered[ordered.size() / 2];
  const auto same = static_cast<double>(std::count(lengths.begin(), lengths.end(), usual));
  return same >= kNearlyAll * static_cast<double>(lengths.size()) ? usual : 1;
}

}  // namespace profshim::loop
