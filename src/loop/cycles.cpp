#include "cycles.h"

#include <algorithm>
#include <bit>

namespace profshim::loop {
namespace {

constexpr double kSimilar = 0.9;
constexpr std::size_t kMostKinds = 16;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Keeps one frequent symbol, such as a copy of each sample, from hiding all others: about log2(1 + count), without the
// math library, which libprofshim.so must not need.
double damped(double count) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(1 + count)) - 1;
  return bits + (1 + count) / static_cast<double>(std::uint64_t{1} << bits) - 1;
}

}  // namespace

std::size_t Cycles::deviations() const {
  return size() - static_cast<std::size_t>(std::count(kind.begin(), kind.end(), usual_kind));
}

Counts counts_of(const std::vector<Call>& calls, std::size_t begin, std::size_t end) {
  Counts counts;
  for (std::size_t i = begin; i < end; ++i) counts[calls[i].symbol] += 1;
  return counts;
}

double similarity(const Counts& a, const Counts& b) {
  double common = 0, all = 0;
  for (const auto& [symbol, count] : a) {
    const auto other = b.find(symbol);
    const double here = damped(count), there = other == b.end() ? 0 : damped(other->second);
    common += std::min(here, there);
    all += std::max(here, there);
  }
  for (const auto& [symbol, count] : b) all += a.count(symbol) != 0 ? 0 : damped(count);
  return all > 0 ? common / all : 1;
}

double contained(const Counts& part, const Counts& whole) {
  double common = 0, all = 0;
  for (const auto& [symbol, count] : part) {
    const auto other = whole.find(symbol);
    if (other != whole.end()) common += damped(std::min(count, other->second));
    all += damped(count);
  }
  return all > 0 ? common / all : 1;
}

Cycles cycles_of(const Group& group, const std::vector<Call>& calls) {
  Cycles cycles;
  cycles.group = &group;
  cycles.at = group.members.front().at;
  std::vector<Counts> examples;  // the first cycle of each kind
  std::vector<double> durations;
  for (std::size_t i = 0; i + 1 < cycles.at.size(); ++i) {
    const Counts counts = counts_of(calls, cycles.at[i], cycles.at[i + 1]);
    const auto like = std::find_if(examples.begin(), examples.end(),
                                   [&](const Counts& example) { return similarity(example, counts) >= kSimilar; });
    // Cycles without an example are kinds of their own: unlike cycles must not look like a regular loop.
    cycles.kind.push_back(like != examples.end() ? static_cast<std::size_t>(like - examples.begin()) : kMostKinds + i);
    if (like == examples.end() && examples.size() < kMostKinds) {
      cycles.kind.back() = examples.size();
      examples.push_back(counts);
    }
    durations.push_back(static_cast<double>(calls[cycles.at[i + 1]].begin_ns - calls[cycles.at[i]].begin_ns));
  }
  std::map<std::size_t, std::size_t> frequency;
  for (const std::size_t kind : cycles.kind) ++frequency[kind];
  const auto most = std::max_element(frequency.begin(), frequency.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  cycles.usual_kind = most->first;
  std::vector<double> usual;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    if (cycles.kind[i] != cycles.usual_kind) continue;
    usual.push_back(durations[i]);
    for (const auto& [symbol, count] : counts_of(calls, cycles.at[i], cycles.at[i + 1])) cycles.usual[symbol] += count;
  }
  for (auto& [symbol, count] : cycles.usual) count /= static_cast<double>(usual.size());
  cycles.usual_ns = median(std::move(usual));
  cycles.period_ns = median(std::move(durations));
  return cycles;
}

}  // namespace profshim::loop
