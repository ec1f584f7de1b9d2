#include "analysis/compare/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace profshim::analysis_detail {
namespace {

// The six values have C(6, 3) = 20 orders: one has U = 9, one has U = 8, and two have U = 7.
TEST(MannWhitney, IsExactWithoutTies) {
  EXPECT_DOUBLE_EQ(longer_p({1, 2, 3}, {4, 5, 6}), 1.0 / 20);
  EXPECT_DOUBLE_EQ(longer_p({1, 2, 4}, {3, 5, 6}), 2.0 / 20);
  EXPECT_DOUBLE_EQ(longer_p({1, 2, 5}, {3, 4, 6}), 4.0 / 20);
  EXPECT_DOUBLE_EQ(longer_p({4, 5, 6}, {1, 2, 3}), 1.0);
}

TEST(MannWhitney, IsNeverSignificantWhereAllIsTheSame) {
  EXPECT_EQ(longer_p({5, 5, 5, 5}, {5, 5, 5, 5}), 1.0);
  EXPECT_GT(longer_p({5, 5, 5, 6}, {5, 5, 5, 6}), 0.4);
  EXPECT_EQ(longer_p({}, {1, 2}), 1.0);
}

TEST(MannWhitney, TheNormalDistributionIsNearTheExactCount) {
  std::vector<double> shorter, longer;
  for (int i = 0; i < 30; ++i) {
    shorter.push_back(i);
    longer.push_back(i + 8.5);
  }
  const double exact = longer_p(shorter, longer);
  longer.push_back(23.5 + 0.25);

  EXPECT_NEAR(std::log(longer_p(shorter, longer)), std::log(exact), 0.3);
}

TEST(MannWhitney, SaysHowManyStepsItTakes) {
  EXPECT_DOUBLE_EQ(least_p(3, 3), 1.0 / 20);
  EXPECT_DOUBLE_EQ(least_p(5, 5), 1.0 / 252);
  EXPECT_EQ(steps_needed(0.005, 1), 5u);
  EXPECT_EQ(steps_needed(0.05, 1), 3u);
  EXPECT_GT(steps_needed(0.005, 100), 7u);
}

// The expected values are from printed t tables.
TEST(Student, HasTheTailsOfTheTables) {
  EXPECT_NEAR(student_tail(0, 7), 0.5, 1e-12);
  EXPECT_NEAR(student_tail(63.657, 1), 0.005, 1e-7);
  EXPECT_NEAR(student_tail(9.925, 2), 0.005, 1e-6);
  EXPECT_NEAR(student_tail(2.776445, 4), 0.025, 1e-6);
  EXPECT_NEAR(student_tail(2.749996, 30), 0.005, 1e-6);
  EXPECT_NEAR(student_tail(1.645, 100000), 0.05, 1e-4);
}

TEST(Holm, StopsAtTheFirstThatIsNotSignificant) {
  EXPECT_EQ(holm({0.02, 0.001, 0.5}, 0.05), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(holm({0.03, 0.03, 0.03}, 0.05), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(holm({}, 0.05), std::vector<bool>{});
}

TEST(Thirds, AnExcursionOfOneThirdIsNone) {
  const std::vector<double> calm(9, 10.0), slower(9, 13.0), excursion = {13, 13, 13, 13, 13, 13, 9, 9, 9};

  EXPECT_TRUE(in_every_third(calm, slower));
  EXPECT_FALSE(in_every_third(calm, excursion));
  EXPECT_FALSE(in_every_third(calm, calm));
}

}  // namespace
}  // namespace profshim::analysis_detail
