#include "analysis/memory/curve.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace profshim::analysis_detail {
namespace {

using Values = std::vector<std::int64_t>;
using Indexes = std::vector<std::uint32_t>;

/// With times 0, 1, 2, ...
Indexes peaks(const Values& values, std::size_t most = 10) {
  Values times(values.size());
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<std::int64_t>(i);
  return peaks_of(times, values, most);
}

TEST(Curve, PeaksAreWhereTheCurveFallsByATenthOfItsRange) {
  EXPECT_EQ(peaks({10, 100, 95, 99, 20, 80, 10, 100, 0}), (Indexes{1, 7, 5}));
  EXPECT_EQ(peaks({10, 100, 95, 99, 20, 80, 10, 100, 0}, 2), (Indexes{1, 7}));
}

TEST(Curve, TheHighestValueIsAPeakAlsoAtTheEnds) {
  EXPECT_EQ(peaks({5, 4, 3}), Indexes{0});
  EXPECT_EQ(peaks({1, 2, 3}), Indexes{2});
  EXPECT_EQ(peaks({7}), Indexes{0});
  EXPECT_EQ(peaks({7, 7, 7}), Indexes{0});
  EXPECT_EQ(peaks({}), Indexes{});
}

TEST(Curve, OfPeaksCloseToEachOtherTheHighestStays) {
  EXPECT_EQ(peaks_of({0, 10, 11, 12, 13, 500, 501, 1000}, {0, 90, 0, 100, 0, 80, 0, 0}, 10), (Indexes{3, 5}));
}

TEST(Curve, FewPointsAreAllShown) {
  const Values times = {0, 1, 2, 1000}, values = {3, 1, 2, 5};

  EXPECT_EQ(points_of(times, {&values}, 1000), (Indexes{0, 1, 2, 3}));
}

TEST(Curve, FewerPointsKeepTheExtremesOfEachInterval) {
  Values times, values, others;
  for (int i = 0; i < 100'000; ++i) {
    times.push_back(i);
    values.push_back(i * 7919 % 1000);
    others.push_back(i == 54'321 ? 1 : 0);
  }
  values[12'345] = 5000;
  values[77'777] = -3;

  const Indexes points = points_of(times, {&values, &others}, 100);

  EXPECT_LE(points.size(), 600u);
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
  for (const std::uint32_t kept : {0u, 12'345u, 77'777u, 54'321u, 99'999u}) {
    EXPECT_TRUE(std::binary_search(points.begin(), points.end(), kept)) << kept;
  }
}

TEST(Curve, EventsOfOneMomentAreOneInterval) {
  const Values times(1000, 42);
  Values values(1000, 1);
  values[500] = 2;

  EXPECT_EQ(points_of(times, {&values}, 100), (Indexes{0, 500, 999}));
}

}  // namespace
}  // namespace profshim::analysis_detail
