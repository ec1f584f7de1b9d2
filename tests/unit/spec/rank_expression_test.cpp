#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <string>

#include "profshim/spec.h"

namespace profshim {
namespace {

Rank rank_of(int r, int world = 16, int local = 8) {
  Rank rank;
  rank.rank = r;
  rank.world_size = world;
  rank.local_rank = r % local;
  rank.local_world_size = local;
  rank.node_rank = r / local;
  rank.host = "a" + std::to_string(r / local);
  return rank;
}

std::string chosen(std::string_view text) {
  RankExpression expression;
  std::string message;
  int column = 0;
  if (!expression.parse(text, message, column)) return "error at " + std::to_string(column) + ": " + message;
  std::string out;
  for (int r = 0; r < 16; ++r) {
    if (expression.selects(rank_of(r))) out += (out.empty() ? "" : ",") + std::to_string(r);
  }
  return out;
}

TEST(RankExpression, IsRankZeroByDefault) {
  EXPECT_TRUE(RankExpression().selects(rank_of(0)));
  EXPECT_FALSE(RankExpression().selects(rank_of(1)));
  EXPECT_EQ(RankExpression().text(), "0");
}

TEST(RankExpression, KnowsEveryTerm) {
  EXPECT_EQ(chosen("3"), "3");
  EXPECT_EQ(chosen("2-5"), "2,3,4,5");
  EXPECT_EQ(chosen("1-15/5"), "1,6,11");
  EXPECT_EQ(chosen("all"), "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
  EXPECT_EQ(chosen("last"), "15");
  EXPECT_EQ(chosen("every:8"), "0,8");
  EXPECT_EQ(chosen("local:0"), "0,8");
  EXPECT_EQ(chosen("local:(0,6-7)"), "0,6,7,8,14,15");
  EXPECT_EQ(chosen("node:1 & local:0-1"), "8,9");
  EXPECT_EQ(chosen("host:a[!0] & every:3"), "9,12,15");
}

TEST(RankExpression, KnowsRoles) {
  Rank rank;
  rank.rank = 3;
  rank.local_rank = 0;
  const auto selects = [&rank](const char* text) {
    RankExpression expression;
    std::string message;
    int column = 0;
    EXPECT_TRUE(expression.parse(text, message, column)) << message;
    return expression.selects(rank);
  };
  EXPECT_FALSE(selects("role:actor, !role:actor")) << "not known here";
  rank.role = "actor";
  EXPECT_TRUE(selects("role:actor & local:0"));
  EXPECT_TRUE(selects("role:act*"));
  EXPECT_FALSE(selects("!role:actor"));
  rank.role = "";
  EXPECT_FALSE(selects("role:actor"));
  EXPECT_TRUE(selects("!role:actor"));
}

TEST(RankExpression, NotBindsTighterThanAndThanOr) {
  EXPECT_EQ(chosen("0, 8-15 & !9-15"), "0,8");
  EXPECT_EQ(chosen("!(0-13) & !15 , 2"), "2,14");
  EXPECT_EQ(chosen("!7 & 5-9"), "5,6,8,9");
  EXPECT_EQ(chosen("!!3"), "3");
  EXPECT_EQ(chosen("(0,1)&(1,2)"), "1");
}

TEST(RankExpression, ANumberAfterAnUnbracketedListIsARank) { EXPECT_EQ(chosen("local:0,4"), "0,4,8"); }

TEST(RankExpression, LeadingNotSelectsAllOtherRanks) { EXPECT_EQ(chosen("!7"), "0,1,2,3,4,5,6,8,9,10,11,12,13,14,15"); }

TEST(RankExpression, ReportsTheColumnOfAnError) {
  EXPECT_EQ(chosen(""), "error at 1: an empty expression selects no rank; write \"all\" for every rank");
  EXPECT_EQ(chosen("  "), "error at 3: an empty expression selects no rank; write \"all\" for every rank");
  EXPECT_EQ(chosen("0,"), "error at 3: a rank, a range or a word is missing at the end");
  EXPECT_EQ(chosen("0)"), "error at 2: \")\" without \"(\"");
  EXPECT_EQ(chosen("every:0"), "error at 7: every: needs a number of 1 or more");
  EXPECT_EQ(chosen("5-1"), "error at 1: the range ends before it begins");
  EXPECT_EQ(chosen("1-5/0"), "error at 1: the step of a range must be 1 or more");
  EXPECT_EQ(chosen("local:"), "error at 7: a number, a range or a list in brackets is missing here");
  EXPECT_EQ(chosen("host:"), "error at 6: host: needs a pattern");
  for (const char* text :
       {"-1", "1-", "1/2", "99999999999", "0x1", "1 2", "&", "()", "local:x", "host:a b", "1.5", "local:(1"}) {
    EXPECT_EQ(chosen(text).substr(0, 5), "error") << text;
  }
}

TEST(RankExpression, FailedParseKeepsTheOldExpression) {
  RankExpression expression;
  std::string message;
  int column = 0;
  ASSERT_TRUE(expression.parse("3", message, column));
  ASSERT_FALSE(expression.parse("3,", message, column));
  EXPECT_TRUE(expression.selects(rank_of(3)));
  EXPECT_EQ(expression.text(), "3");
}

TEST(RankExpression, UnknownNumbersSelectNoRank) {
  const auto selects = [](const char* text, const Rank& rank) {
    RankExpression expression;
    std::string message;
    int column = 0;
    EXPECT_TRUE(expression.parse(text, message, column)) << text;
    return expression.selects(rank);
  };
  const Rank nothing;
  for (const char* text :
       {"0", "!0", "last", "!last", "every:1", "local:0", "!local:0", "node:0", "host:*", "!(0 & 1)"}) {
    EXPECT_FALSE(selects(text, nothing)) << text;
  }
  EXPECT_TRUE(selects("all", nothing));
  Rank known;
  known.rank = 4;
  EXPECT_TRUE(selects("4, local:0", known));
  EXPECT_FALSE(selects("4 & local:0", known));
}

TEST(RankExpression, RanksOutsideTheWorldAreListed) {
  RankExpression expression;
  std::string message;
  int column = 0;
  ASSERT_TRUE(expression.parse("0, 20-30, 20, local:99", message, column));
  EXPECT_EQ(expression.outside(16), (std::vector<int>{20, 30}));
  EXPECT_TRUE(expression.outside(31).empty());
}

TEST(RankExpression, DetectsAnEmptySelection) {
  const auto nobody = [](const char* text) {
    RankExpression expression;
    std::string message;
    int column = 0;
    EXPECT_TRUE(expression.parse(text, message, column)) << text;
    return expression.selects_nobody();
  };
  for (const char* text : {"1 & 2", "!all", "0-5 & 6-9", "every:2 & 1-99/2", "!(0 , !0)", "1 & 2 & local:0"}) {
    EXPECT_TRUE(nobody(text)) << text;
  }
  for (const char* text : {"0", "!0", "last & 3", "local:1 & local:2", "every:7 & every:11 & 70-80", "host:x",
                           "2147483647", "every:100003 & every:100019 & !0"}) {
    EXPECT_FALSE(nobody(text)) << text;
  }
}

TEST(RankExpression, LongAndDeepTextsAreRefused) {
  EXPECT_EQ(chosen(std::string(100000, '(')).substr(0, 5), "error");
  EXPECT_NE(chosen(std::string(100001, '!') + "0"), "");
  std::string list = "0";
  for (int i = 0; i < 5000; ++i) list += ",0";
  EXPECT_NE(chosen(list).find("too long"), std::string::npos);
}

using Test = std::function<bool(const Rank&)>;

std::pair<std::string, Test> random_expression(std::mt19937& random, int depth) {
  const auto number = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  if (depth > 0 && number(3) > 0) {
    auto [left, left_test] = random_expression(random, depth - 1);
    if (number(3) == 0) return {"!(" + left + ")", [t = left_test](const Rank& r) { return !t(r); }};
    auto [right, right_test] = random_expression(random, depth - 1);
    if (number(2) == 0) {
      return {"(" + left + ") & (" + right + ")",
              [a = left_test, b = right_test](const Rank& r) { return a(r) && b(r); }};
    }
    return {left + " , " + right, [a = left_test, b = right_test](const Rank& r) { return a(r) || b(r); }};
  }
  const int a = number(16), b = a + number(6), s = 1 + number(4);
  const std::string range = std::to_string(a) + "-" + std::to_string(b) + "/" + std::to_string(s);
  const auto in = [a, b, s](int x) {
    for (int y = a; y <= b; y += s) {
      if (x == y) return true;
    }
    return false;
  };
  switch (number(7)) {
    case 0:
      return {std::to_string(a), [a](const Rank& r) { return r.rank == a; }};
    case 1:
      return {range, [in](const Rank& r) { return in(r.rank); }};
    case 2:
      return {"local:" + range, [in](const Rank& r) { return in(r.local_rank); }};
    case 3:
      return {"node:(" + range + ", 0)", [in](const Rank& r) { return in(r.node_rank) || r.node_rank == 0; }};
    case 4:
      return {"every:" + std::to_string(s), [s](const Rank& r) { return r.rank % s == 0; }};
    case 5:
      return {"last", [](const Rank& r) { return r.rank == 15; }};
    default:
      return {"host:?1", [](const Rank& r) { return r.host == "a1"; }};
  }
}

TEST(RankExpression, EqualsANaiveEvaluator) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    const auto [text, test] = random_expression(random, 4);
    RankExpression expression;
    std::string message;
    int column = 0;
    ASSERT_TRUE(expression.parse(text, message, column)) << text << ": " << message;
    bool anybody = false;
    for (int r = 0; r < 16; ++r) {
      ASSERT_EQ(expression.selects(rank_of(r)), test(rank_of(r))) << text << " rank " << r;
      anybody |= test(rank_of(r));
    }
    if (anybody) {
      ASSERT_FALSE(expression.selects_nobody()) << text;
    }
  }
}

}  // namespace
}  // namespace profshim
