#include "profshim/base/size_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "profshim/base/text/ascii.h"
#include "profshim/base/text/number_text.h"

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

using ascii::is_digit;

}  // namespace

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
      if (i - digits >= 6) return false;
      part = part * 10 + static_cast<std::uint64_t>(text[i] - '0');
      scale *= 10;
    }
    if (i == digits) return false;
  }
  const std::string_view name = trim(text.substr(i));
  const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == kUnits.end()) return false;
  if (part != 0 && unit->bytes == 1) return false;
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
  // 1023.95 would be printed as 1024.0.
  for (; unit + 1 < kNames.size() && value >= (unit == 0 ? 1024 : 1023.95); ++unit) value /= 1024;
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  return fixed_text(value, whole ? 0 : 1).append(" ").append(kNames[unit]);
}

}  // namespace profshim
