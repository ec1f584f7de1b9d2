// Text that people write and read: sizes, near names, one-line problems.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base.h"

namespace profshim {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                          {"B", 1},
                                          {"kB", 1000},
                                          {"KB", 1000},
                                          {"MB", 1000000},
                                          {"GB", 1000000000},
                                          {"TB", 1000000000000},
                                          {"KiB", 1ull << 10},
                                          {"MiB", 1ull << 20},
                                          {"GiB", 1ull << 30},
                                          {"TiB", 1ull << 40},
                                          {"K", 1ull << 10},
                                          {"M", 1ull << 20},
                                          {"G", 1ull << 30}}};

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Letters that differ, are missing, too many, or swapped with their neighbour (Damerau, restricted). Case counts not.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

/// Control characters would break the one line that a problem is.
std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return out;
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLongestWord = 64;  // nothing of ours is longer, and the distance costs length times length
  if (word.empty() || word.size() > kLongestWord) return "";
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, std::min<std::size_t>(3, word.size() / 3)) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool parse_size(std::string_view text, std::uint64_t& bytes) {
  text = trim(text);
  std::size_t i = 0;
  std::uint64_t whole = 0;
  for (; i < text.size() && is_digit(text[i]); ++i) {
    if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, text[i] - '0', &whole)) return false;
  }
  if (i == 0) return false;
  std::uint64_t part = 0, scale = 1;
  if (i < text.size() && text[i] == '.') {
    const std::size_t digits = ++i;
    for (; i < text.size() && is_digit(text[i]); ++i) {
      if (i - digits >= 6) return false;  // no unit has use for more
      part = part * 10 + static_cast<std::uint64_t>(text[i] - '0');
      scale *= 10;
    }
    if (i == digits) return false;
  }
  const std::string_view name = trim(text.substr(i));
  const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == kUnits.end()) return false;
  if (part != 0 && unit->bytes == 1) return false;  // half a byte
  std::uint64_t total = 0, fraction = 0;
  if (__builtin_mul_overflow(whole, unit->bytes, &total)) return false;
  if (__builtin_mul_overflow(part, unit->bytes, &fraction)) return false;
  if (__builtin_add_overflow(total, fraction / scale, &total)) return false;
  bytes = total;
  return true;
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  // 1023.95 would print as 1024.0
  for (; unit + 1 < kNames.size() && value >= (unit == 0 ? 1024 : 1023.95); ++unit) value /= 1024;
  char text[40];
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", value, kNames[unit].data());
  return text;
}

std::string to_line(const Problem& problem) {
  std::string line;
  if (!problem.file.empty()) {
    line += problem.file;
    if (problem.line > 0) line += ":" + std::to_string(problem.line);
    if (problem.line > 0 && problem.column > 0) line += ":" + std::to_string(problem.column);
    line += ": ";
  }
  if (!problem.key.empty()) line += problem.key + ": ";
  if (problem.severity == Problem::Severity::kWarning) line += "warning: ";
  line += problem.message;
  if (!problem.hint.empty()) line += "; " + problem.hint;
  return printable(line);
}

}  // namespace profshim
