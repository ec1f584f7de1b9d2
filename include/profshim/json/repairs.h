// Counts of text that is no JSON but that a parser can read without doubt.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace profshim {

enum class JsonRepair : std::uint8_t {
  kByteOrderMark,
  kControlCharacter,  // raw in a string, NUL included: read as it is
  kNotUtf8,           // a byte in a string: read as U+FFFD
  kLoneSurrogate,     // \ud800 without its other half: read as U+FFFD
  kBackslash,         // it escapes nothing: read as itself
  kComma,             // before a bracket, or after another comma
  kNotFinite,         // NaN, an infinity, or a number too large for a double: read as null
  kNulByte,           // between values: skipped
  kBehindTheEnd,      // a byte that is not white space
};
inline constexpr std::size_t kJsonRepairs = static_cast<std::size_t>(JsonRepair::kBehindTheEnd) + 1;

class JsonRepairs {
 public:
  struct Count {
    std::uint64_t count = 0;
    std::uint64_t first = 0;  // byte position in the text
  };
  void add(JsonRepair kind, std::uint64_t position) {
    Count& seen = counts_[static_cast<std::size_t>(kind)];
    if (seen.count++ == 0) seen.first = position;
  }
  const Count& operator[](JsonRepair kind) const { return counts_[static_cast<std::size_t>(kind)]; }

 private:
  std::array<Count, kJsonRepairs> counts_{};
};

}  // namespace profshim
