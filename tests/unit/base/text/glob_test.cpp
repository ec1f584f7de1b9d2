#include "profshim/base/glob.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace profshim {
namespace {

TEST(Glob, MatchesTheWholeText) {
  EXPECT_TRUE(glob_match("training_step_*", "training_step_12"));
  EXPECT_FALSE(glob_match("step", "a step"));
  EXPECT_FALSE(glob_match("step", "steps"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
}

TEST(Glob, StarsMatchAnyLength) {
  EXPECT_TRUE(glob_match("*adam*step*", "fused_adam_big_step_kernel"));
  EXPECT_TRUE(glob_match("a*b*c", "abbbcbc"));
  EXPECT_FALSE(glob_match("a*b*c", "abbbcb"));
}

TEST(Glob, ClassesHaveRangesAndNegation) {
  EXPECT_TRUE(glob_match("node[0-3]", "node2"));
  EXPECT_FALSE(glob_match("node[0-3]", "node4"));
  EXPECT_TRUE(glob_match("node[!0-3]", "node4"));
  EXPECT_TRUE(glob_match("[]x]", "]"));
  EXPECT_TRUE(glob_match("a[b-]", "a-"));
}

TEST(Glob, AnUnclosedClassMatchesABracket) {
  EXPECT_TRUE(glob_match("a[b", "a[b"));
  EXPECT_FALSE(glob_match("a[b", "ab"));
}

TEST(Glob, CostIsBoundedForHostilePatterns) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";

  EXPECT_FALSE(glob_match(pattern + "b", std::string(5000, 'a')));
}

bool naive(std::string_view p, std::string_view t) {
  if (p.empty()) return t.empty();
  if (p[0] == '*') return naive(p.substr(1), t) || (!t.empty() && naive(p, t.substr(1)));
  return !t.empty() && (p[0] == '?' || p[0] == t[0]) && naive(p.substr(1), t.substr(1));
}

TEST(Glob, AgreesWithANaiveImplementation) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string pattern, text;
    for (unsigned i = random() % 7; i > 0; --i) pattern += "ab*?"[random() % 4];
    for (unsigned i = random() % 9; i > 0; --i) text += "ab"[random() % 2];

    ASSERT_EQ(glob_match(pattern, text), naive(pattern, text)) << pattern << " " << text;
  }
}

TEST(Glob, LiteralPrefixStopsAtTheFirstSpecialCharacter) {
  EXPECT_EQ(glob_literal_prefix("ProfilerStep#*"), "ProfilerStep#");
  EXPECT_EQ(glob_literal_prefix("*x"), "");
  EXPECT_EQ(glob_literal_prefix("a[b]"), "a");
  EXPECT_EQ(glob_literal_prefix("plain"), "plain");
}

}  // namespace
}  // namespace profshim
