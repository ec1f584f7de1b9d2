#include "repaired_text.h"

#include <algorithm>
#include <charconv>

#include "profshim/json/text_clean.h"

namespace profshim {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd", kEscapedReplacement = "\\ufffd";
constexpr std::string_view kSimpleEscapes = "\"\\/bfnrt";
constexpr std::string_view kNoWord = std::string_view(" \n\r\t,:[]{}\"\0", 12);
constexpr std::size_t kLongestWord = 512;
constexpr std::size_t kUnicodeEscape = 6;  // \u12ab

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
/// A comma before it is one too many.
bool is_behind_last(char c) { return c == ']' || c == '}' || c == ','; }
bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_first_half(unsigned value) { return value >= 0xd800 && value < 0xdc00; }
bool is_second_half(unsigned value) { return value >= 0xdc00 && value < 0xe000; }

unsigned hexadecimal(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

/// True for one escape that stands alone.
bool is_plain_unicode(std::string_view text) {
  if (text.size() < kUnicodeEscape || text[1] != 'u') return false;
  const std::string_view digits = text.substr(2, 4);
  const unsigned value = hexadecimal(digits);
  return std::all_of(digits.begin(), digits.end(), is_hexadecimal) && !is_first_half(value) && !is_second_half(value);
}

/// True for "NaN", "-inf" and the like, as Python, JavaScript and printf() write them, and for a number beyond a
/// double.
bool is_not_finite(std::string_view word) {
  const std::string_view unsigned_word = word.substr(word.front() == '-' || word.front() == '+' ? 1 : 0);
  if (!unsigned_word.empty() && unsigned_word.front() >= '0' && unsigned_word.front() <= '9') {
    const std::size_t exponent = word.find_first_of("eE");
    if (exponent == std::string_view::npos || word.substr(exponent + 1).starts_with('-')) return false;
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc::result_out_of_range && end == word.data() + word.size();
  }
  std::string name(unsigned_word);
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name == "nan" || name == "inf" || name == "infinity";
}

}  // namespace

void RepairedText::look() {
  instead_.clear();
  given_ = 0;
  while (clean_ == 0 && instead_.empty() && !stream_.at_end()) {
    clean_ = clean_run(stream_.ahead());
    if (clean_ == 0) in_string_ ? look_in_string() : look_between_tokens();
  }
}

std::size_t RepairedText::clean_run(std::string_view ahead) {
  std::size_t n = 0;
  for (std::size_t more = 1; more > 0 && n < ahead.size(); n += more) {
    const std::string_view rest = ahead.substr(n);
    // The handler may move the stream when an object or list ends.
    if (!in_string_ && (rest.front() == '}' || rest.front() == ']')) return std::max<std::size_t>(n, 1);
    more = in_string_ ? clean_in_string(rest) : clean_between_tokens(rest);
  }
  return n;
}

std::size_t RepairedText::clean_in_string(std::string_view rest) {
  if (const std::size_t plain = trace_detail::plain_prefix(rest.data(), rest.size()); plain > 0) return plain;
  const char c = rest.front();
  if (c == '"') {
    in_string_ = false;
    return 1;
  }
  if (c != '\\') return static_cast<unsigned char>(c) >= 0x80 ? trace_detail::utf8_sequence(rest) : 0;
  if (rest.size() > 1 && kSimpleEscapes.find(rest[1]) != std::string_view::npos) return 2;
  return is_plain_unicode(rest) ? kUnicodeEscape : 0;
}

std::size_t RepairedText::clean_between_tokens(std::string_view rest) {
  const char c = rest.front();
  if (c == '"') in_string_ = true;
  if (c == '"' || c == '{' || c == '[' || c == ':' || is_blank(c)) return 1;
  if (c == ',') {
    const std::size_t behind = rest.find_first_not_of(" \n\r\t", 1);
    return behind != std::string_view::npos && !is_behind_last(rest[behind]) ? behind : 0;
  }
  if (c != '-' && (c < '0' || c > '9')) return 0;
  const std::size_t size = rest.find_first_not_of("0123456789-.");
  return size != std::string_view::npos && kNoWord.find(rest[size]) != std::string_view::npos ? size : 0;
}

void RepairedText::look_between_tokens() {
  const char c = next();
  if (c == ',') {
    comma();
  } else if (c == '\0') {
    repairs_.add(JsonRepair::kNulByte, stream_.position());
    stream_.take();
  } else if (stream_.position() == 0 && c == '\xef') {
    byte_order_mark();
  } else {
    word();
  }
}

void RepairedText::byte_order_mark() {
  std::string mark;
  for (const char c : {'\xef', '\xbb', '\xbf'}) {
    if (next() != c) break;
    mark += stream_.take();
  }
  if (mark.size() < 3) return instead(mark);
  repairs_.add(JsonRepair::kByteOrderMark, 0);
}

void RepairedText::comma() {
  const std::uint64_t position = stream_.position();
  stream_.take();
  while (is_blank(next())) stream_.take();
  if (!is_behind_last(next())) return instead(",");
  repairs_.add(JsonRepair::kComma, position);
}

void RepairedText::word() {
  constexpr std::string_view kFirst = "+-0123456789iInN";  // of a number, or of its name
  if (kFirst.find(next()) == std::string_view::npos) {
    clean_ = 1;
    return;
  }
  const std::uint64_t position = stream_.position();
  const std::string_view ahead = stream_.ahead();
  const std::size_t size = ahead.find_first_of(kNoWord);
  if (size != std::string_view::npos && !is_not_finite(ahead.substr(0, size))) {
    clean_ = size;
    return;
  }
  std::string word;
  while (word.size() < kLongestWord && kNoWord.find(next()) == std::string_view::npos) word += stream_.take();
  if (!is_not_finite(word)) return instead(word);
  repairs_.add(JsonRepair::kNotFinite, position);
  instead("null");
}

void RepairedText::look_in_string() {
  const char c = next();
  if (c == '\\') return escape();
  if (static_cast<unsigned char>(c) >= 0x80) return not_ascii();
  repairs_.add(JsonRepair::kControlCharacter, stream_.position());
  const auto value = static_cast<unsigned char>(stream_.take());
  constexpr char kDigits[] = "0123456789abcdef";
  instead(std::string("\\u00") + kDigits[value >> 4] + kDigits[value & 15]);
}

void RepairedText::escape() {
  std::string first_half;  // waits for its second half
  const auto lone = [&](std::uint64_t position) {
    repairs_.add(JsonRepair::kLoneSurrogate, position);
    instead_ += kEscapedReplacement;
  };
  for (;;) {
    const std::uint64_t position = stream_.position();
    unsigned value = 0;
    const std::string text = one_escape(value);
    if (!first_half.empty() && is_second_half(value)) {
      instead_ += first_half + text;
      return;
    }
    if (!first_half.empty()) lone(position - kUnicodeEscape);
    first_half.clear();
    if (is_first_half(value) && next() == '\\') {
      first_half = text;
      continue;
    }
    if (is_first_half(value) || is_second_half(value)) {
      lone(position);
    } else {
      instead_ += text;
    }
    return;
  }
}

std::string RepairedText::one_escape(unsigned& unicode) {
  const std::uint64_t position = stream_.position();
  std::string text(1, stream_.take());
  if (kSimpleEscapes.find(next()) != std::string_view::npos) return text += stream_.take();
  if (next() == 'u') {
    text += stream_.take();
    while (text.size() < kUnicodeEscape && is_hexadecimal(next())) text += stream_.take();
    if (text.size() == kUnicodeEscape) {
      unicode = hexadecimal(std::string_view(text).substr(2));
      return text;
    }
  }
  repairs_.add(JsonRepair::kBackslash, position);
  return '\\' + text;
}

void RepairedText::not_ascii() {
  const std::string_view ahead = stream_.ahead();
  const std::uint64_t position = stream_.position();
  std::string text(1, stream_.take());
  // The block may end within a sequence.
  while (ahead.size() < 4 && text.size() < 4 && (static_cast<unsigned char>(next()) & 0xc0) == 0x80 &&
         trace_detail::utf8_sequence(text) == 0) {
    text += stream_.take();
  }
  if (trace_detail::utf8_sequence(text) == text.size()) return instead(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    repairs_.add(JsonRepair::kNotUtf8, position + i);
    instead_ += kReplacement;
  }
}

}  // namespace profshim
