// A launch without an activity record has ended if every stream has finished a later launch.
#include "capture_fixture.h"

namespace profshim::device {
namespace {

using cupti::KernelRecord;

TEST_P(CaptureTest, ALaunchThatEveryStreamHasPassedIsNotWaitedForLong) {
  cupti_.add(cupti::StreamRecord{cupti::kStreamKind, 2, 7, 0, 0});
  cupti_.add(call(1));
  cupti_.deliver();
  switch_off();
  cupti_.add(call(2));
  cupti_.add(kernel(2));
  cupti_.deliver();
  serve(kSecond / 10);
  EXPECT_EQ(capture_->state(), Capture::State::kDraining) << "its record may be on its way";
  serve(kSecond / 2);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

TEST_P(CaptureTest, AStreamWithoutLaterActivityMayStillRunTheMissingKernel) {
  KernelRecord elsewhere = kernel(1);
  elsewhere.stream = 20;
  cupti_.add(elsewhere);
  cupti_.add(call(2));
  cupti_.add(kernel(3));
  cupti_.deliver();
  cupti_.request();  // the buffer of a running kernel
  switch_off();
  serve(kSecond);
  serve(kSecond);
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);

  elsewhere.correlation = 2;
  cupti_.add(elsewhere);
  cupti_.deliver();
  serve(kSecond);
  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 0u);
}

TEST_P(CaptureTest, AStreamWithoutAnyActivityMayRunTheMissingKernel) {
  cupti_.add(cupti::StreamRecord{cupti::kStreamKind, 2, 20, 0, 0});
  cupti_.add(call(1));
  cupti_.add(kernel(2));
  cupti_.deliver();
  cupti_.request();  // the buffer of a running kernel
  switch_off();
  serve(kSecond);

  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
}

// A recorded cudaStreamSynchronize (capture.cuda_sync) shows that its stream has finished all earlier launches.
TEST_P(CaptureTest, ALaunchBeforeAWaitForEveryStreamIsNotWaitedForLong) {
  cupti_.add(cupti::StreamRecord{cupti::kStreamKind, 2, 7, 0, 0});
  cupti_.add(call(1));
  cupti_.add(kernel(1));
  cupti_.add(call(2));
  cupti::SynchronizationRecord wait{};
  wait.kind = cupti::kSynchronizationKind;
  wait.type = 3;
  wait.start = begin_ + 300;
  wait.end = begin_ + 400;
  wait.correlation = 3;
  wait.context = 2;
  wait.stream = 7;
  cupti_.add(wait);
  cupti_.deliver();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  serve(kSecond / 2);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

}  // namespace
}  // namespace profshim::device
