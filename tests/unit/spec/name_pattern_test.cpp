#include "profshim/spec/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace profshim {
namespace {

TEST(NamePattern, KnowsEveryVariable) {
  for (const std::string_view variable : pattern_variables()) {
    EXPECT_EQ(check_pattern("a{" + std::string(variable) + "}.json", false), "");
  }
  EXPECT_EQ(pattern_variables().size(), 19u);
}

TEST(NamePattern, RefusesUrls) {
  for (const char* text : {"s3://b/x", "gs://b", "https://h/x", "file:///tmp", "hdfs://x"}) {
    EXPECT_NE(check_pattern(text, true).find("local folder"), std::string::npos) << text;
  }
  EXPECT_EQ(check_pattern("/a:b//c", true), "");
}

TEST(NamePattern, RefusesTildesAndTooLongNames) {
  EXPECT_NE(check_pattern("~/traces", true).find("home folder"), std::string::npos);
  EXPECT_EQ(check_pattern("./~/traces", true), "");
  const std::string longest(255, 'n');
  EXPECT_EQ(check_pattern(longest + "/" + longest, true), "");
  EXPECT_EQ(check_pattern("{run_name}" + longest, false), "");
  EXPECT_NE(check_pattern("a/n" + longest, true).find("255"), std::string::npos);
  EXPECT_NE(check_pattern("{rank}n" + longest, false).find("255"), std::string::npos);
}

TEST(NamePattern, RefusesUnbalancedBraces) {
  for (const char* text : {"{", "}", "{rank", "rank}", "{rank}}", "{{rank}}", "{}", "{rank }"}) {
    EXPECT_NE(check_pattern(text, false), "") << text;
  }
}

}  // namespace
}  // namespace profshim
