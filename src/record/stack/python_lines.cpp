#include "python_lines.h"

namespace profshim::recorder::python_lines {
namespace {

/// Beyond the end of the table, next() returns 0, which ends a varint.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool more() const { return at_ < bytes_.size(); }
  std::uint8_t next() { return more() ? bytes_[at_++] : std::uint8_t{0}; }
  void skip(std::size_t n) { at_ += n; }
  /// Varint: six bits per byte, low bits first; bit 6: another byte follows.
  unsigned number() {
    unsigned value = 0;
    for (unsigned shift = 0;; shift += 6) {
      const std::uint8_t byte = next();
      if (shift < 32) value |= (byte & 63u) << shift;
      if ((byte & 64) == 0) return value;
    }
  }
  /// Varint whose bit 0 is the sign. Unsigned arithmetic: a damaged table may hold any number.
  unsigned signed_number() {
    const unsigned value = number();
    return (value & 1) != 0 ? 0u - (value >> 1) : value >> 1;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

int by_locations(std::span<const std::uint8_t> table, int first_line, std::size_t offset) {
  constexpr unsigned kNone = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;
  Bytes bytes(table);
  auto line = static_cast<unsigned>(first_line);
  for (std::size_t end = 0; bytes.more();) {
    const std::uint8_t head = bytes.next();
    const unsigned code = head >> 3 & 15;
    if (code == kLong) {
      line += bytes.signed_number();
      for (int i = 0; i < 3; ++i) bytes.number();  // end line, columns
    } else if (code == kNoColumns) {
      line += bytes.signed_number();
    } else if (code >= kOneLine && code != kNone) {
      line += code - kOneLine;
      bytes.skip(2);
    } else if (code != kNone) {
      bytes.skip(1);
    }
    end += ((head & 7u) + 1) * 2;
    if (offset < end) return code == kNone ? first_line : static_cast<int>(line);
  }
  return first_line;
}

int by_differences(std::span<const std::uint8_t> table, int first_line, std::size_t offset) {
  constexpr std::int8_t kNone = -128;
  auto line = static_cast<unsigned>(first_line);
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto difference = static_cast<std::int8_t>(table[i + 1]);
    if (difference != kNone) line += static_cast<unsigned>(int{difference});
    end += table[i];
    if (offset < end) return difference == kNone ? first_line : static_cast<int>(line);
  }
  return first_line;
}

}  // namespace profshim::recorder::python_lines
