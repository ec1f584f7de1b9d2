#include "profshim/base/clock.h"

#include <gtest/gtest.h>

namespace profshim {
namespace {

TEST(ClockMap, InterpolatesBetweenNeighboringAnchors) {
  // The clock runs at 2 ticks per ns, then at 4. The wall clock is 1000 ns ahead of the monotonic clock.
  const ClockMap clock({{0, 0, 1000}, {200, 100, 1100}, {600, 200, 1200}}, ClockKind::kTsc);

  EXPECT_EQ(clock.unix_ns(100), 1050);
  EXPECT_EQ(clock.unix_ns(400), 1150);
}

TEST(ClockMap, ContinuesBeyondTheLastAnchor) {
  const ClockMap clock({{0, 0, 0}, {200, 100, 100}}, ClockKind::kTsc);

  EXPECT_EQ(clock.unix_ns(400), 200);
}

TEST(ClockMap, AWallClockStepChangesNoDurationAndIsReported) {
  const ClockMap clock({{0, 0, 0}, {100, 100, 100}, {200, 200, 5200}}, ClockKind::kTsc);

  EXPECT_EQ(clock.unix_ns(200) - clock.unix_ns(100), 100);
  EXPECT_EQ(clock.realtime_shift_ns(), 5000);
}

TEST(ClockMap, ConvertsAnEarlierTimeAfterALaterOne) {
  const ClockMap clock({{0, 0, 0}, {100, 100, 100}, {300, 200, 200}}, ClockKind::kTsc);

  EXPECT_EQ(clock.unix_ns(200), 150);
  EXPECT_EQ(clock.unix_ns(50), 50);
}

TEST(ClockMap, MonotonicTicksAreNanoseconds) {
  const ClockMap clock({{5000, 5000, 1005000}}, ClockKind::kMonotonic);

  EXPECT_EQ(clock.unix_ns(6000), 1006000);
}

TEST(ClockMap, UsesTheRateOfArmsCounter) {
  const ClockMap clock({{0, 0, 0}, {25, 1000, 1000}}, ClockKind::kArmCounter);  // 25 MHz

  EXPECT_EQ(clock.unix_ns(50), 2000);
  EXPECT_EQ(clock.ticks_per_ns(), 0.025);
}

#if defined(__aarch64__)
TEST(Ticks, ArmsCounterHasTheRateThatTheProcessorStates) {
  std::uint64_t per_second = 0;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(per_second));
  use_clock(ClockKind::kArmCounter);

  const Anchor begin = take_anchor();
  while (monotonic_ns() < begin.monotonic_ns + 50'000'000) {
  }
  const ClockMap clock({begin, take_anchor()}, ClockKind::kArmCounter);
  use_clock(ClockKind::kMonotonic);

  EXPECT_NEAR(clock.ticks_per_ns() * 1e9 / static_cast<double>(per_second), 1, 0.05);
}
#endif

TEST(ClockMap, ClampsImpossibleRates) {
  EXPECT_EQ(ClockMap({{1, 1, 1}, {~Ticks{0}, 2, 2}}, ClockKind::kTsc).ticks_per_ns(), 1000);
  EXPECT_EQ(ClockMap({{1, 1, 1}, {2, 1'000'000'000'000, 2}}, ClockKind::kTsc).ticks_per_ns(), 0.001);
}

TEST(Clock, AnchorsAgreeWithTheWallClock) {
  choose_clock();
  const Anchor anchor = take_anchor();

  EXPECT_NEAR(static_cast<double>(anchor.realtime_ns), static_cast<double>(realtime_ns()), 1e9);
}

}  // namespace
}  // namespace profshim
