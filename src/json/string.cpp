#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "profshim/json.h"
#include "profshim/json/text_clean.h"

namespace profshim {
namespace trace_detail {

namespace {
constexpr std::uint64_t kOnes = 0x0101010101010101ull;
constexpr std::uint64_t kHighBits = 0x8080808080808080ull;

// Sets the high bit of each zero byte. Bytes above a zero byte may be marked wrongly.
constexpr std::uint64_t zero_bytes(std::uint64_t v) { return (v - kOnes) & ~v & kHighBits; }

constexpr bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }
}  // namespace

std::size_t plain_prefix(const char* text, std::size_t size) {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t v;
    std::memcpy(&v, text + i, 8);
    const std::uint64_t control = (v - kOnes * 0x20) & ~v;
    const std::uint64_t bad =
        (v | control | zero_bytes(v ^ (kOnes * '"')) | zero_bytes(v ^ (kOnes * '\\'))) & kHighBits;
    if (bad != 0) break;  // a borrow may mark a plain byte: the next loop is exact
  }
  while (i < size && is_plain(static_cast<unsigned char>(text[i]))) ++i;
  return i;
}

std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (first == 0xed && byte(1) >= 0xa0) return 0;  // a surrogate
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;   // overlong
    if (first == 0xf4 && byte(1) >= 0x90) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) {
      result += "\xef\xbf\xbd";  // U+FFFD
      text.remove_prefix(1);
    } else {
      result.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return result;
}

std::string quoted_bytes(std::string_view text) {
  if (plain_prefix(text.data(), text.size()) == text.size()) return '"' + std::string(text) + '"';
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace trace_detail

std::string json_string(std::string_view text) {
  if (trace_detail::plain_prefix(text.data(), text.size()) == text.size()) return '"' + std::string(text) + '"';
  return trace_detail::quoted_bytes(trace_detail::valid_utf8(text));
}

}  // namespace profshim
