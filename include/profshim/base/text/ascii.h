// Kinds and cases of ASCII characters. isalnum(), tolower(), strcasecmp() and their like follow the locale: in Turkish
// "I" is not the capital of "i".
#pragma once

#include <algorithm>
#include <string_view>

namespace profshim::ascii {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_alphanumeric(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z'); }
/// The characters that isspace() knows in the C locale.
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Compares without case. Never allocates.
constexpr bool equal_words(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace profshim::ascii
