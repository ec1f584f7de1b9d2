#include <gtest/gtest.h>

#include <string>

#include "profshim/base/problem.h"
#include "profshim/base/text/message_text.h"

namespace profshim {
namespace {

std::string parsed(std::string_view text) {
  std::uint64_t bytes = 0;
  return parse_size(text, bytes) ? std::to_string(bytes) : "no";
}

TEST(Size, AcceptsBinaryAndDecimalUnits) {
  EXPECT_EQ(parsed("2GiB"), "2147483648");
  EXPECT_EQ(parsed("512 MB"), "512000000");
  EXPECT_EQ(parsed("1024"), "1024");
  EXPECT_EQ(parsed(" 1.5 KiB "), "1536");
  EXPECT_EQ(parsed("4G"), "4294967296");
  EXPECT_EQ(parsed("7B"), "7");
}

TEST(Size, RefusesOtherUnits) {
  for (const char* text : {"", "GiB", "-1", "1.5", "1.", "2 gigs", "2GiBx", "0x10", "1e3", "1,5MB",
                           "99999999999999999999", "99999999999TiB", "+1", "2 G iB"}) {
    EXPECT_EQ(parsed(text), "no") << text;
  }
}

TEST(Size, IsPrintedWithAtMostOneDecimal) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(2147483648), "2 GiB");
  EXPECT_EQ(format_size((1u << 20) - 1), "1.0 MiB");
}

TEST(Nearest, FindsOnlyTypingMistakes) {
  const std::vector<std::string_view> words = {"cpu", "cuda", "nccl", "mpi", "nvtx", "active", "wait"};
  EXPECT_EQ(nearest("actve", words), "active");
  EXPECT_EQ(nearest("wiat", words), "wait");
  EXPECT_EQ(nearest("CUDA", words), "cuda");
  EXPECT_EQ(nearest("power", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), words), "");
}

TEST(ToLine, NamesPlaceKeyMessageAndHint) {
  Problem problem;
  problem.file = "run.toml";
  problem.line = 12;
  problem.column = 3;
  problem.key = "schedule.actve";
  problem.message = "unknown key";
  problem.hint = "did you mean schedule.active?";
  EXPECT_EQ(to_line(problem), "run.toml:12:3: schedule.actve: unknown key; did you mean schedule.active?");

  problem.severity = Problem::Severity::kWarning;
  problem.line = 0;
  problem.hint = "";
  EXPECT_EQ(to_line(problem), "run.toml: schedule.actve: warning: unknown key");
}

TEST(ToLine, StaysOneLine) {
  Problem problem;
  problem.file = "a\nb";
  problem.message = "x\r\ty";
  EXPECT_EQ(to_line(problem), "a?b: x??y");
}

}  // namespace
}  // namespace profshim
