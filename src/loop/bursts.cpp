#include "bursts.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace profshim::loop {
namespace {

constexpr std::int64_t kLongGap = 5;  // times the median gap
constexpr std::size_t kFewBursts = 5;
constexpr double kNearlyAll = 0.9;

/// True if nearly each `length`-th gap is long, and hardly any other: a busy machine makes some.
bool ends_with_long_gaps(const std::vector<std::int64_t>& gaps, std::int64_t least, std::size_t length) {
  std::vector<double> all(length), are_long(length);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    all[i % length] += 1;
    are_long[i % length] += gaps[i] >= least ? 1 : 0;
  }
  const auto last = static_cast<std::size_t>(std::max_element(are_long.begin(), are_long.end()) - are_long.begin());
  double others = 0, long_others = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (i == last) continue;
    others += all[i];
    long_others += are_long[i];
  }
  return are_long[last] >= kNearlyAll * all[last] && long_others <= (1 - kNearlyAll) * others;
}

}  // namespace

std::size_t calls_in_burst(const std::vector<Call>& equal) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < equal.size(); ++i) gaps.push_back(equal[i].begin_ns - equal[i - 1].end_ns);
  if (gaps.empty()) return 1;
  std::vector<std::int64_t> sorted = gaps;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const std::int64_t least = kLongGap * std::max<std::int64_t>(1, sorted[sorted.size() / 2]);
  std::map<std::size_t, std::size_t> frequency;  // of lengths
  std::size_t begin = 0, bursts = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] < least) continue;
    ++frequency[i + 1 - begin];
    ++bursts;
    begin = i + 1;
  }
  if (bursts < kFewBursts) return 1;
  const std::size_t usual = std::max_element(frequency.begin(), frequency.end(), [](const auto& a, const auto& b) {
                              return a.second < b.second;
                            })->first;
  return usual > 1 && ends_with_long_gaps(gaps, least, usual) ? usual : 1;
}

}  // namespace profshim::loop
