#include "candidates.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace profshim::loop {
namespace {

constexpr std::size_t kLeastCalls = 3;
constexpr std::size_t kMostGroups = 64;

std::vector<Candidate> single_symbols(std::size_t symbols, const std::vector<Call>& calls) {
  std::vector<Candidate> all(symbols);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    all[calls[i].symbol].symbol = calls[i].symbol;
    all[calls[i].symbol].at.push_back(i);
  }
  return all;
}

/// Only pairs that are rarer than both of their symbols: the others recur as one of these does.
std::vector<Candidate> pairs(const std::vector<Candidate>& singles, const std::vector<Call>& calls) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> found;  // previous, symbol, index
  for (std::uint32_t i = 1; i < calls.size(); ++i) found.emplace_back(calls[i - 1].symbol, calls[i].symbol, i);
  std::sort(found.begin(), found.end());
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < found.size();) {
    std::size_t end = i;
    const auto [previous, symbol, first] = found[i];
    while (end < found.size() && std::get<0>(found[end]) == previous && std::get<1>(found[end]) == symbol) ++end;
    const std::size_t count = end - i;
    if (count >= kLeastCalls && count + 1 < singles[symbol].at.size() && count + 1 < singles[previous].at.size()) {
      Candidate pair{symbol, previous, {}};
      for (; i < end; ++i) pair.at.push_back(std::get<2>(found[i]));
      all.push_back(std::move(pair));
    }
    i = end;
  }
  return all;
}

/// A loop that has ended (initialization, reading a file) makes no steps.
bool goes_on(const Candidate& candidate, std::size_t calls) {
  std::vector<std::uint32_t> gaps;
  for (std::size_t i = 1; i < candidate.at.size(); ++i) gaps.push_back(candidate.at[i] - candidate.at[i - 1]);
  const std::size_t longest = *std::max_element(gaps.begin(), gaps.end());
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  const std::size_t usual = gaps[gaps.size() / 2];
  return calls - candidate.at.back() <= std::max(2 * usual, longest);
}

bool alternate(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  if (b.front() < a.front()) return alternate(b, a);
  if (b.size() > a.size() || b.size() + 1 < a.size()) return false;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (b[i] < a[i] || (i + 1 < a.size() && b[i] >= a[i + 1])) return false;
  }
  return true;
}

}  // namespace

std::vector<Group> groups_of(std::size_t symbols, const std::vector<Call>& calls) {
  const std::vector<Candidate> singles = single_symbols(symbols, calls);
  std::vector<Candidate> all = pairs(singles, calls);
  for (const Candidate& single : singles) {
    if (single.at.size() >= kLeastCalls) all.push_back(single);
  }
  std::erase_if(all, [&](const Candidate& candidate) { return !goes_on(candidate, calls.size()); });
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    if (a.at.size() != b.at.size()) return a.at.size() < b.at.size();
    return a.previous.has_value() < b.previous.has_value();
  });
  std::vector<Group> groups;
  for (Candidate& candidate : all) {
    const auto own = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return alternate(group.members.front().at, candidate.at);
    });
    if (own != groups.end()) {
      own->members.push_back(std::move(candidate));
    } else if (groups.size() < kMostGroups) {
      groups.push_back({{std::move(candidate)}});
    }
  }
  for (Group& group : groups) {
    std::stable_sort(group.members.begin(), group.members.end(),
                     [](const Candidate& a, const Candidate& b) { return a.at.front() < b.at.front(); });
  }
  return groups;
}

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
