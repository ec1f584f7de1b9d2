// Numbers as text, equal in all locales. printf("%f"), strtod() and streams take the decimal point and the grouping
// from the locale of the process or the thread.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace profshim {

/// As "%.*f" in the C locale. Allocates, as do the next two.
std::string fixed_text(double value, int decimals);

/// As "%.*g" in the C locale.
std::string rounded_text(double value, int digits);

/// The shortest text with the same value, without an exponent: "0.1", "12".
std::string exact_text(double value);

/// Reads a whole text as a number, without blanks or a plus sign. Otherwise returns false and leaves `number` alone.
template <class Number, class... Base>
bool parse_number(std::string_view text, Number& number, Base... base) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc() || at != end) return false;
  number = value;
  return true;
}

/// Takes a number from the start of a text. Otherwise returns false and leaves both alone.
template <class Number, class... Base>
bool take_number(std::string_view& text, Number& number, Base... base) {
  Number value{};
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  number = value;
  return true;
}

/// Returns the number at the start of a text; 0 if there is none.
template <class Number>
Number leading_number(std::string_view text) {
  Number number{};
  take_number(text, number);
  return number;
}

/// Returns the whole number in an environment variable, 0 to INT_MAX; else -1. Blanks and a plus sign may stand before
/// it.
int number_in_environment(const char* variable);

/// Takes `expected` from the start of a text.
inline bool take_character(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace profshim
