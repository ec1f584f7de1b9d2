#include "record/stack/python_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace profshim::recorder::python_lines {
namespace {

using Table = std::vector<std::uint8_t>;

// Bits 3 to 6 of an entry's first byte hold its kind, bits 0 to 2 its number of instructions
// minus one (CPython's Objects/locations.md).
constexpr std::uint8_t head(unsigned kind, unsigned instructions) {
  return static_cast<std::uint8_t>(0x80 | kind << 3 | (instructions - 1));
}

TEST(PythonLines, DecodesEachKindOfLocation) {
  const Table table = {
      head(3, 1),  0x12,           // short: the same line
      head(11, 2), 4,    9,        // next line, both columns
      head(13, 1), 7,              // no columns: three lines back
      head(14, 3), 40,   0, 1, 2,  // long: twenty lines on
      head(15, 1),                 // no line
  };

  const auto line = [&](std::size_t offset) { return by_locations(table, 100, offset); };

  EXPECT_EQ(line(0), 100);
  EXPECT_EQ(line(2), 101);
  EXPECT_EQ(line(5), 101);
  EXPECT_EQ(line(6), 98);
  EXPECT_EQ(line(8), 118);
  EXPECT_EQ(line(13), 118);
  EXPECT_EQ(line(14), 100) << "no location: that of the function";
  EXPECT_EQ(line(16), 100) << "behind the end";
}

TEST(PythonLines, DecodesNumbersOfSeveralBytes) {
  // 1000 is stored as 2000, because bit 0 is the sign: 16 + 31 * 64, six bits per byte.
  const Table table = {head(13, 1), 16 | 64, 31};

  EXPECT_EQ(by_locations(table, 1, 0), 1001);
}

TEST(PythonLines, DamagedTableGivesAnyLineWithoutACrash) {
  for (int byte = 0; byte < 256; ++byte) {
    const Table table(9, static_cast<std::uint8_t>(byte));
    by_locations(table, 1, 1000);
    by_differences(table, 1, 1000);
  }
  EXPECT_EQ(by_locations({}, 5, 0), 5);
  EXPECT_EQ(by_differences({}, 5, 0), 5);
}

TEST(PythonLines, DecodesTheTableOfPython310) {
  const Table table = {4, 1, 2, 0x80, 6, 0xfe};  // next line; no line; two lines back

  EXPECT_EQ(by_differences(table, 10, 0), 11);
  EXPECT_EQ(by_differences(table, 10, 3), 11);
  EXPECT_EQ(by_differences(table, 10, 4), 10) << "no line: that of the function";
  EXPECT_EQ(by_differences(table, 10, 6), 9);
}

}  // namespace
}  // namespace profshim::recorder::python_lines
