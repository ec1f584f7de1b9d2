// LaunchTracker and the states of a launch.
#include "device/capture/launch_tracker.h"

#include <gtest/gtest.h>

namespace profshim::device {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(LaunchState, IsDeliveredAfterCallAndActivityInAnyOrder) {
  constexpr auto kCall = LaunchRecord::kCall, kActivity = LaunchRecord::kActivity;
  EXPECT_EQ(after(LaunchState::kUnknown, kCall), LaunchState::kAwaited);
  EXPECT_EQ(after(LaunchState::kUnknown, kActivity), LaunchState::kActivityOnly);
  EXPECT_EQ(after(LaunchState::kAwaited, kCall), LaunchState::kAwaited);
  EXPECT_EQ(after(LaunchState::kAwaited, kActivity), LaunchState::kDelivered);
  EXPECT_EQ(after(LaunchState::kActivityOnly, kCall), LaunchState::kDelivered);
  EXPECT_EQ(after(LaunchState::kActivityOnly, kActivity), LaunchState::kActivityOnly);
  EXPECT_EQ(after(LaunchState::kDelivered, kCall), LaunchState::kDelivered);
  EXPECT_EQ(after(LaunchState::kDelivered, kActivity), LaunchState::kDelivered);
}

TEST(LaunchTracker, TracksNoMoreLaunchesThanItsMemoryHolds) {
  LaunchTracker tracker(64 << 10);
  for (std::uint32_t i = 1; i <= 10000; ++i) tracker.on_launch(i, i, 1, ApiRole::kLaunch);
  EXPECT_LT(tracker.size(), 1000u);
  EXPECT_GT(tracker.size(), 300u);
}

// The tracker once gave up such a launch after 0.3 s, because every stream with activity had passed it.
TEST(LaunchTracker, AKernelMayRunOnAStreamOlderThanTheRecording) {
  for (const bool dumped : {false, true}) {
    LaunchTracker tracker(64 << 10);
    tracker.streams().set_streams_are_dumped(dumped);
    if (dumped) {
      for (const std::uint64_t stream : {7, 13}) tracker.streams().add_from_record(stream);
    }
    tracker.begin_round(1);
    tracker.on_launch(1, 50, 1, ApiRole::kLaunch);  // on 13
    tracker.streams().on_finished(7, 2);
    tracker.oldest_outstanding();
    tracker.begin_round(10 * kSecond);
    EXPECT_EQ(tracker.oldest_outstanding(), 50u);
  }
}

TEST(LaunchTracker, CorrelationIdsThatHaveWrappedAreLater) {
  LaunchTracker tracker(64 << 10);
  tracker.streams().set_streams_are_dumped(true);
  tracker.streams().add_from_record(7);
  tracker.begin_round(1);
  tracker.on_launch(2, 50, 1, ApiRole::kLaunch);
  tracker.streams().on_finished(7, 0xfffffff0u);
  tracker.oldest_outstanding();
  tracker.begin_round(10 * kSecond);
  EXPECT_EQ(tracker.oldest_outstanding(), 50u) << "launched after it";

  tracker.streams().on_finished(7, 3);
  tracker.oldest_outstanding();
  tracker.begin_round(20 * kSecond);
  EXPECT_EQ(tracker.oldest_outstanding(), LaunchTracker::kNothing);
}

}  // namespace
}  // namespace profshim::device
