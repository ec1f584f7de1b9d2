#include <gtest/gtest.h>

#include "profshim/base/text/message_text.h"

namespace profshim {
namespace {

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(printable("void gemm<float, 4>(T*)"), "void gemm<float, 4>(T*)");
  EXPECT_EQ(printable("Schrödinger Δ 日本 🚀"), "Schrödinger Δ 日本 🚀");
  EXPECT_EQ(printable("C:\\path"), "C:\\path");
}

TEST(Printable, EscapesCharactersThatActOnATerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("one\ntwo\r\tthree"), "one\\ntwo\\r\\tthree");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("a\u202eb\u2028c"), "a\\u202eb\\u2028c");
}

TEST(Printable, EscapesInvalidUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");
  EXPECT_EQ(printable("cut \xe6\x97"), "cut \\xe6\\x97");
  EXPECT_EQ(printable("\xc0\x9b\xed\xa0\x80"), "\\xc0\\x9b\\xed\\xa0\\x80");
}

TEST(PrintableLines, KeepsNewlines) { EXPECT_EQ(printable_lines("a\x1b\nb\n"), "a\\x1b\nb\n"); }

}  // namespace
}  // namespace profshim
