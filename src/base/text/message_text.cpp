#include "profshim/base/text/message_text.h"

#include <dlfcn.h>
#include <locale.h>  // locale: for the C locale
#include <string.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>

#include "profshim/base/text/ascii.h"
#include "profshim/base/text/number_text.h"

namespace profshim {
namespace {

// glibc returns a static object for "C" and allocates nothing.
locale_t c_locale() { return newlocale(LC_ALL_MASK, "C", nullptr); }  // locale: the C locale itself

}  // namespace

const char* error_text(int error) { return strerror_l(error, c_locale()); }  // locale: in the C locale

// glibc translates the message in dlerror().
std::string loader_error_text() {
  const locale_t of_thread = uselocale(c_locale());  // locale: the C locale, for one call
  const char* const text = dlerror();                // locale: in the C locale
  uselocale(of_thread);                              // locale: back to the job's
  return text != nullptr ? text : "";
}

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

namespace {

/// Restricted Damerau-Levenshtein distance, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  using ascii::lower;
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

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr std::size_t kLongestWord = 64;  // the cost is quadratic
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

}  // namespace profshim
