#include <gtest/gtest.h>

#include "profshim/recorder_control.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

using ScratchThreadTest = test::SpoolFixture;

void work(int rounds) {
  volatile int done = 0;
  while (done < rounds) done = done + 1;
}

TEST_F(ScratchThreadTest, MeasuringCostsLeavesNoEventAndRestoresTheThread) {
  make_spool(64);
  commit_at(10);
  spool::Thread* const own = recorder::this_thread();
  {
    recorder::ScratchThread scratch;
    EXPECT_NE(recorder::this_thread(), own);
    EXPECT_GT(scratch.cost_ns([] { commit_at(20); }), 0);
  }

  EXPECT_EQ(recorder::this_thread(), own);
  commit_at(30);
  const auto found = all_events();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].begin, 10u);
  EXPECT_EQ(found[1].begin, 30u);
}

TEST_F(ScratchThreadTest, MeasuredCostIsProportionalToTheWork) {
  make_spool(64);
  recorder::ScratchThread scratch;
  // A busy machine may change its speed between the two measurements.
  double ratio = 0;
  for (int attempt = 0; attempt < 10 && (ratio < 1.8 || ratio > 2.2); ++attempt) {
    const double once = scratch.cost_ns([] { work(2000); });
    ratio = scratch.cost_ns([] { work(4000); }) / once;
  }

  EXPECT_GE(ratio, 1.8);
  EXPECT_LE(ratio, 2.2);
}

}  // namespace
}  // namespace profshim
