#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace profshim::trace_detail {

inline double to_double(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

inline bool to_integer(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

inline std::int64_t saturated(double value) {
  constexpr double kLimit = 9.2e18;
  if (!(value > -kLimit)) return -static_cast<std::int64_t>(kLimit);
  if (!(value < kLimit)) return static_cast<std::int64_t>(kLimit);
  // As llround(), but without libm, which the library does not load into the job.
  const auto whole = static_cast<std::int64_t>(value);
  const double rest = value - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

/// Converts microseconds. Uses floating point only for an exponent or overflow. Sets `finer` if it rounds.
inline std::int64_t to_ns(std::string_view text, bool& finer) {
  constexpr std::int64_t kMost = 9'000'000'000'000'000;
  const std::size_t dot = text.find('.');
  std::int64_t whole = 0;
  if (text.find_first_of("eE") != std::string_view::npos || !to_integer(text.substr(0, dot), whole) || whole > kMost ||
      whole < -kMost) {
    const double ns = to_double(text) * 1000;
    finer = finer || ns != std::floor(ns);
    return saturated(ns);
  }
  if (dot == std::string_view::npos) return whole * 1000;
  std::string_view decimals = text.substr(dot + 1);
  while (decimals.size() > 3 && decimals.back() == '0') decimals.remove_suffix(1);
  finer = finer || decimals.size() > 3;
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < 3; ++i) ns = ns * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
  if (decimals.size() > 3 && decimals[3] >= '5') ++ns;
  return whole * 1000 + (text.front() == '-' ? -ns : ns);
}

/// Returns the value of a pid, tid or id. Unsigned numbers of 64 bits keep their bits; longer ones become hashes.
inline std::int64_t id_number(std::string_view text) {
  std::int64_t value = 0;
  if (to_integer(text, value)) return value;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error == std::errc{} && end == text.data() + text.size()) return static_cast<std::int64_t>(bits);
  if (text.find_first_of(".eE") != std::string_view::npos) return saturated(to_double(text));
  return static_cast<std::int64_t>(std::hash<std::string_view>{}(text));
}

/// Takes a pid or tid written as text. False for texts such as "stream 7" or "007".
inline bool is_whole_number(std::string_view text, std::int64_t& value) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  std::int64_t number = 0;
  if ((text != "0" && digits.starts_with('0')) || !to_integer(text, number)) return false;
  value = number;
  return true;
}

/// True for a number as JSON writes it: no blanks, no '+'.
inline bool is_number_text(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Returns the value of a text like "0x1f" if `may_be_hexadecimal`, else a hash.
inline std::int64_t id_of_text(std::string_view text, bool may_be_hexadecimal) {
  if (may_be_hexadecimal && text.starts_with("0x")) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), id, 16);
    if (error == std::errc{} && end == text.data() + text.size() && end != text.data() + 2)
      return static_cast<std::int64_t>(id);
  }
  return static_cast<std::int64_t>(std::hash<std::string_view>{}(text));
}

}  // namespace profshim::trace_detail
