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

// A job may make a new graph in every step.
TEST(LaunchTracker, KnowsNoMoreGraphsThanItsMemoryHolds) {
  LaunchTracker tracker(64 << 10);
  for (std::uint32_t i = 1; i <= 10000; ++i) {
    if (i % 100 == 0) tracker.begin_round(i * kSecond);  // forgets complete launches, not graphs
    tracker.on_activity(i, i);
    EXPECT_LT(tracker.graphs(), 1000u);
  }
  EXPECT_GT(tracker.graphs(), 0u);
}

TEST(LaunchTracker, ALaunchOfAForgottenGraphIsWaitedForAMoment) {
  LaunchTracker tracker(64 << 10);
  tracker.begin_round(1);
  tracker.on_launch(1, 50, 1, ApiRole::kGraphLaunch);
  tracker.on_activity(1, 7);
  for (std::uint32_t i = 2; i <= 200; ++i) tracker.on_activity(i, 1000 + i);
  EXPECT_EQ(tracker.oldest_outstanding(), 50u);
  tracker.begin_round(kSecond);
  EXPECT_EQ(tracker.oldest_outstanding(), LaunchTracker::kNothing);
}

// A memset of no bytes has no activity (PyTorch makes one per step).
TEST(LaunchTracker, CountsCopiesWithoutActivityApart) {
  LaunchTracker tracker(64 << 10);
  tracker.on_launch(1, 50, 1, ApiRole::kCopy);
  tracker.on_launch(2, 60, 1, ApiRole::kLaunch);
  tracker.give_up_before(100);
  const LaunchTracker::Lost lost = tracker.take_lost();
  EXPECT_EQ(lost.copies, 1u);
  EXPECT_EQ(lost.launches, 1u);
}

// PyTorch's backward threads launch into a stream that the main thread captures.
TEST(LaunchTracker, LaunchesOfAllThreadsMayBelongToAStreamCapture) {
  LaunchTracker tracker(64 << 10);
  tracker.on_launch(1, 50, 2, ApiRole::kLaunch);
  tracker.on_launch(2, 150, 2, ApiRole::kLaunch);
  tracker.on_launch(3, 250, 2, ApiRole::kLaunch);
  tracker.on_begin_capture(1, 100);
  tracker.on_end_capture(1, 200);
  tracker.give_up_before(300);
  EXPECT_EQ(tracker.take_lost().launches, 2u);

  tracker.on_launch(4, 450, 2, ApiRole::kLaunch);
  tracker.on_begin_capture(1, 400);
  tracker.give_up_before(500);
  EXPECT_EQ(tracker.take_lost().launches, 0u) << "the capture goes on";
}

TEST(LaunchTracker, ACorrelationIdHasOneLaunchAlsoIfTheTableIsFull) {
  LaunchTracker tracker(64 << 10);
  std::uint32_t i = 1;
  for (std::size_t before = ~std::size_t{0}; tracker.size() != before; ++i) {
    before = tracker.size();
    EXPECT_TRUE(tracker.on_launch(i, i, 1, ApiRole::kLaunch));
  }
  EXPECT_TRUE(tracker.on_launch(i, i, 1, ApiRole::kLaunch)) << "the driver's call";
  EXPECT_FALSE(tracker.on_launch(i, i, 1, ApiRole::kLaunch)) << "the runtime's call around it";
  EXPECT_FALSE(tracker.on_launch(1, 1, 1, ApiRole::kLaunch)) << "known from before";
}

// Stream 7 has finished later work, but stream 13 has no activity yet and may run the launched kernel.
TEST(LaunchTracker, AKernelMayRunOnAStreamOlderThanTheRecording) {
  for (const bool dumped : {false, true}) {
    LaunchTracker tracker(64 << 10);
    tracker.streams().set_streams_are_dumped(dumped);
    if (dumped) {
      for (const std::uint64_t stream : {7, 13}) tracker.streams().add_from_record(stream);
    }
    tracker.begin_round(1);
    tracker.on_launch(1, 50, 1, ApiRole::kLaunch);
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
