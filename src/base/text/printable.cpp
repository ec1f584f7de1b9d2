#include "profshim/base/printable.h"

#include <cstdio>

namespace profshim {
namespace {

/// Returns the first character's size; 0 = invalid UTF-8.
std::size_t character(std::string_view text, char32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || size > text.size()) return 0;
  code = size == 1 ? first : first & (0xff >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[size] || code > 0x10ffff || surrogate ? 0 : size;
}

bool acts_on_a_terminal(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool separator = c == 0x2028 || c == 0x2029;
  const bool direction =
      c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || separator || direction;
}

void append_escaped(std::string& out, char32_t c) {
  char text[16];
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      std::snprintf(text, sizeof text, c < 0x80 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(c));
      out += text;
  }
}

std::string clean(std::string_view text, bool keep_newlines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    char32_t code = 0;
    const std::size_t size = character(text, code);
    if (size == 0) {
      char byte[8];
      std::snprintf(byte, sizeof byte, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[0])));
      out += byte;
      text.remove_prefix(1);
      continue;
    }
    if (acts_on_a_terminal(code) && !(keep_newlines && code == '\n')) {
      append_escaped(out, code);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return clean(text, false); }

std::string printable_lines(std::string_view text) { return clean(text, true); }

}  // namespace profshim
