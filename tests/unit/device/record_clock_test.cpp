#include "device/cupti/record_clock.h"

#include <gtest/gtest.h>

namespace profshim::device {
namespace {

TEST(RecordClock, WallClockTimesAreInterpolatedBetweenKnownMoments) {
  constexpr Ticks kLatest = 1'000'000;
  RecordClock clock;
  clock.use_ticks(false);
  EXPECT_EQ(clock.ticks_of(5000, 6000, kLatest), 0u) << "no moment is known yet";
  clock.add({1000, 0, 10000});
  clock.add({3000, 0, 14000});
  clock.add({4000, 0, 13000});  // wall clock set back
  EXPECT_EQ(clock.ticks_of(10000, 1, kLatest), 1000u);
  EXPECT_EQ(clock.ticks_of(12000, 1, kLatest), 2000u);
  EXPECT_EQ(clock.ticks_of(16000, 1, kLatest), 4000u);
  EXPECT_EQ(clock.ticks_of(0, 1, kLatest), 0u);
  clock.use_ticks(true);
  EXPECT_EQ(clock.ticks_of(12000, 1, kLatest), 12000u);
  EXPECT_EQ(clock.ticks_of(12000, 1, 9000), 2000u) << "not a time of our clock";
  EXPECT_EQ(clock.ticks_of(90000, 1, 9000), 90000u) << "not a time of any clock";
}

TEST(RecordClock, AForeignClockIsKnownFromItsFirstMomentOn) {
  static std::uint64_t theirs = 0;
  RecordClock clock;
  clock.add({1000, 0, 10000});
  clock.use_foreign([] { return theirs; });
  EXPECT_TRUE(clock.has_foreign());
  theirs = 700;
  clock.add({2000, 0, 20000});
  theirs = 900;
  clock.add({4000, 0, 40000});
  EXPECT_EQ(clock.ticks_of(800, 1500, 9000), 3000u);
  EXPECT_EQ(clock.ticks_of(30000, 1500, 9000), 3000u) << "a wall clock time among them";
  EXPECT_STREQ(clock.name(), "another client's, converted");
}

}  // namespace
}  // namespace profshim::device
