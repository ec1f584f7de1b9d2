#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "types.h"

namespace profshim::nvtx {

/// If a piece does not fit, fits() becomes false; the caller must rewind() to a position before that piece.
class JsonText {
 public:
  JsonText(char* buffer, std::size_t size) : begin_(buffer), at_(buffer), end_(buffer + size - kClosing) {}

  bool fits() const { return fits_; }
  char* position() const { return at_; }
  void rewind(char* position) {
    at_ = position;
    fits_ = true;
  }
  std::string_view text() const { return {begin_, static_cast<std::size_t>(at_ - begin_)}; }

  void raw(std::string_view text) {
    if (at_ + text.size() > end_) {
      fits_ = false;
      return;
    }
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  /// Always fits: it may use the kClosing bytes (limits.h).
  void end_object(bool is_empty, bool is_complete) {
    if (!is_complete) {
      if (!is_empty) put(",");
      put(kTruncated);
    }
    put("}");
  }
  template <class Number>
  void number(Number value) {
    char digits[64];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    raw(error == std::errc() ? std::string_view(digits, static_cast<std::size_t>(end - digits)) : "null");
  }
  void real(double value) {
    if (std::isnan(value)) return raw("\"NaN\"");
    if (std::isinf(value)) return raw(value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    number(value);
  }
  /// `reversed`: last byte first, for little-endian numbers.
  void hex(const std::uint8_t* bytes, std::size_t size, bool reversed) {
    raw("\"0x");
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint8_t byte = bytes[reversed ? size - 1 - i : i];
      static constexpr char kDigits[] = "0123456789abcdef";
      const char pair[2] = {kDigits[byte >> 4], kDigits[byte & 15]};
      raw({pair, 2});
    }
    raw("\"");
  }
  void string(std::string_view text) {
    raw("\"");
    characters(text);
    raw(text.size() > kMaxString ? "...\"" : "\"");
  }
  /// Writes at most kMaxString bytes of `text`. Control characters become spaces.
  void characters(std::string_view text) {
    for (const char c : text.substr(0, kMaxString)) {
      if (c == '"' || c == '\\') {
        const char pair[2] = {'\\', c};
        raw({pair, 2});
      } else if (static_cast<unsigned char>(c) < 0x20) {
        raw(" ");
      } else {
        raw({&c, 1});
      }
    }
  }

 private:
  void put(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }

  char* begin_;
  char* at_;
  char* end_;
  bool fits_ = true;
};

}  // namespace profshim::nvtx
