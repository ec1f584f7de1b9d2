#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "profshim/analysis/summary.h"
#include "profshim/analysis/views.h"
#include "profshim/base/text/number_text.h"

namespace profshim::analysis_detail {

template <class Number>
std::string counted(Number n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

inline Cell rank_cell(int rank) { return rank >= 0 ? Cell(std::int64_t{rank}) : Cell(); }

inline std::string rank_name(int rank) { return rank >= 0 ? std::to_string(rank) : "?"; }

/// Returns "0-3, 7" for 0, 1, 2, 3 and 7.
inline std::string rank_list(const std::set<int>& ranks) {
  std::string text;
  for (auto at = ranks.begin(); at != ranks.end();) {
    const int first = *at;
    int last = first;
    while (++at != ranks.end() && *at == last + 1) last = *at;
    text += (text.empty() ? "" : ", ") + rank_name(first);
    if (last > first) text += (last > first + 1 ? "-" : ", ") + rank_name(last);
  }
  return text;
}

inline std::string ranks_words(const std::set<int>& ranks) {
  if (ranks.size() == 1 && *ranks.begin() < 0) return "the one rank";
  return (ranks.size() == 1 ? "rank " : "ranks ") + rank_list(ranks);
}

/// Leaves out empty texts.
inline std::string joined(const std::set<std::string>& texts, std::size_t most) {
  std::string text;
  std::size_t n = 0;
  for (const std::string& one : texts) {
    if (one.empty()) continue;
    if (n == most) return text + " and others";
    text += (n++ == 0 ? "" : ", ") + one;
  }
  return text;
}

inline std::string percent(double part, double whole) {
  const double share = whole > 0 ? 100 * part / whole : 0;
  return fixed_text(share, share < 9.95 && share > 0 ? 1 : 0) + " %";
}

inline std::string time_words(double us) {
  const double scaled = us >= 999'500 ? us / 1e6 : us >= 999.5 ? us / 1e3 : us;
  const char* const unit = us >= 999'500 ? " s" : us >= 999.5 ? " ms" : " µs";
  return fixed_text(scaled, scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2) + unit;
}

}  // namespace profshim::analysis_detail
