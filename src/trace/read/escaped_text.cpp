#include "escaped_text.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profshim/json/text_clean.h"

namespace profshim::trace_detail {
namespace {

constexpr std::size_t kLongestSequence = 4;  // bytes of UTF-8

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char letter = static_cast<char>(c | 0x20);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/// Reads four hexadecimal digits; -1 if there are less.
std::int32_t four_digits(const char* at) {
  std::int32_t value = 0;
  for (const char* const end = at + 4; at != end; ++at) {
    const int digit = digit_of(*at);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void append_utf8(std::uint32_t code, std::string& to) {
  const auto last = [&](int shift) { to += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xc0 | (code >> 6));
    last(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xe0 | (code >> 12));
    last(6);
    last(0);
  } else {
    to += static_cast<char>(0xf0 | (code >> 18));
    last(12);
    last(6);
    last(0);
  }
}

/// `at`: the digits behind "\u". Returns the byte behind the escape, or behind the second of a surrogate pair.
const char* decode_unicode(const char* at, std::string& decoded) {
  const std::int32_t first = four_digits(at);
  if (first < 0) return nullptr;
  at += 4;
  if (first < 0xd800 || first >= 0xe000) {
    append_utf8(static_cast<std::uint32_t>(first), decoded);
    return at;
  }
  if (first >= 0xdc00 || at[0] != '\\' || at[1] != 'u') return nullptr;
  const std::int32_t second = four_digits(at + 2);
  if (second < 0xdc00 || second >= 0xe000) return nullptr;
  append_utf8(static_cast<std::uint32_t>(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)), decoded);
  return at + 6;
}

/// `at`: the byte behind the backslash.
const char* decode_escape(const char* at, std::string& decoded) {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (*at == 'u') return decode_unicode(at + 1, decoded);
  const std::size_t place = kLetters.find(*at);
  if (place == std::string_view::npos) return nullptr;
  decoded += kMeanings[place];
  return at + 1;
}

}  // namespace

const char* decode_text(const char* at, std::string& decoded) {
  decoded.clear();
  for (;;) {
    const char* const end = end_of_plain_text(at);
    decoded.append(at, end);
    at = end;
    if (*at == '"') return at;
    if (*at == '\\') {
      at = decode_escape(at + 1, decoded);
      if (at == nullptr) return nullptr;
      continue;
    }
    if (static_cast<signed char>(*at) >= 0) return nullptr;  // a control character, or the end of the block
    const std::size_t size = utf8_sequence({at, kLongestSequence});
    if (size == 0) return nullptr;
    decoded.append(at, size);
    at += size;
  }
}

}  // namespace profshim::trace_detail
