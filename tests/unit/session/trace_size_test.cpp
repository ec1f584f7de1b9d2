#include "profshim/window/trace_size.h"

#include <gtest/gtest.h>

namespace profshim {
namespace {

TEST(TraceSize, ClosesByTheAssumedSizeUntilTheFirstMeasurement) {
  TraceSize size(1'000'000, 100);
  size.begin(500);

  EXPECT_FALSE(size.reached(500 + 4000));
  EXPECT_TRUE(size.reached(500 + 9601));
}

TEST(TraceSize, AMeasurementHoldsForTheEventsSinceTheOneBefore) {
  TraceSize size(1'000'000, 100);
  size.begin(0);
  size.reached(2000);
  ASSERT_TRUE(size.wants_measure());
  const std::uint64_t until = size.start_measure();
  EXPECT_EQ(until, 2000u);

  size.measured(until, 50'000, 200);

  EXPECT_FALSE(size.reached(2500));
  EXPECT_FALSE(size.reached(2600));
  EXPECT_TRUE(size.reached(4600));
}

TEST(TraceSize, ClosesIfTheNextCallWouldExceedTheLimit) {
  TraceSize size(1'000'000, 100);
  size.begin(0);

  EXPECT_FALSE(size.reached(3000));
  EXPECT_FALSE(size.reached(8400));
  EXPECT_TRUE(size.reached(8900));
}

TEST(TraceSize, AMeasurementOfAClosedWindowIsIgnored) {
  TraceSize size(1'000'000, 100);
  size.begin(0);
  size.reached(5000);
  const std::uint64_t until = size.start_measure();
  size.begin(20'000);

  size.measured(until, 900'000, 1000);

  EXPECT_FALSE(size.reached(20'500));
}

TEST(TraceSize, AsksOnceForEachShareOfTheLimit) {
  TraceSize size(1'000'000, 100);
  size.begin(0);
  size.reached(2000);
  EXPECT_EQ(size.start_measure(), 2000u);
  EXPECT_EQ(size.start_measure(), 0u);
  size.reached(2100);
  EXPECT_FALSE(size.wants_measure());
  size.reached(3300);

  EXPECT_TRUE(size.wants_measure());
}

}  // namespace
}  // namespace profshim
