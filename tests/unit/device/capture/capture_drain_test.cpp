#include "capture_fixture.h"

namespace profshim::device {
namespace {

using cupti::ApiRecord;
using cupti::KernelRecord;

TEST_P(CaptureTest, AWindowWaitsForTheActivityOfItsLaunches) {
  cupti_.add(call(1));
  cupti_.deliver();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  EXPECT_LT(capture_->settled_until(), request_.off_at);
  EXPECT_TRUE(cupti_.kinds.empty()) << "the job pays for the recording no longer";

  cupti_.add(kernel(1));
  cupti_.deliver();
  serve(kSecond);
  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->settled_until(), Capture::kEverything);
  EXPECT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(capture_->converter().losses().launches, 0u);
}

// A thread of CUPTI completes buffers at any time.
TEST_P(CaptureTest, ABufferThatComesWhileAnotherIsReadIsWaitedFor) {
  cupti_.add(call(1));
  cupti_.add(kernel(1));
  cupti_.deliver();
  cupti_.add(call(2));
  cupti_.add(kernel(2));
  int events = 0;
  out_.on_put = [&] {
    if (++events == 1) cupti_.complete();
    EXPECT_LT(capture_->settled_until(), request_.off_at) << "the window takes no more events";
  };
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  serve(kSecond / 100);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(out_.of(HookId::kKernel).size(), 2u);
}

TEST_P(CaptureTest, ActivityThatNeverComesIsGivenUpAndCounted) {
  cupti_.add(call(1));
  cupti_.deliver();
  cupti_.request();
  switch_off();
  serve(Capture::kTimeout_ns / 2);
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  serve(Capture::kTimeout_ns);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
  EXPECT_EQ(cupti_.flushes.back(), cupti::kFlushForced);
}

// CUPTI has no buffer, so Capture waits for kQuietTime_ns, not kTimeout_ns.
TEST_P(CaptureTest, ActivityThatCuptiHasDroppedIsNotWaitedForLong) {
  cupti_.add(call(1));
  cupti_.deliver();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  serve(Capture::kQuietTime_ns);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

// CUPTI may deliver device activity before the calls that launched it.
TEST_P(CaptureTest, ActivityMayComeBeforeBothRecordsOfItsLaunch) {
  ApiRecord inner = call(5, 1, cupti::kDriverKind);
  inner.start += 10;
  inner.end -= 10;
  cupti_.add(kernel(5));
  cupti_.deliver();
  cupti_.add(inner);
  cupti_.add(call(5));
  cupti_.deliver();
  flush();

  EXPECT_EQ(capture_->converter().launches().oldest_outstanding(), LaunchTracker::kNothing);
  int launches = 0;
  for (const Event& event : out_.of(HookId::kCudaApi)) launches += event.api.is_launch;
  EXPECT_EQ(launches, 1);
}

TEST_P(CaptureTest, NothingIsWaitedForLongAfterTheJobHasWaitedForItsDevice) {
  cupti_.add(call(1));
  cupti_.add(call(2, 9));  // cudaDeviceSynchronize
  cupti_.add(call(3));
  cupti_.add(kernel(3));
  cupti_.deliver();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining) << "its record may be on its way";
  serve(kSecond / 2);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

TEST_P(CaptureTest, ActivityMayComeAMomentAfterTheJobHasWaited) {
  cupti_.add(call(1));
  cupti_.add(call(2, 9));
  cupti_.deliver();
  switch_off();
  cupti_.add(kernel(1));
  cupti_.deliver();
  serve(kSecond / 10);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 0u);
  EXPECT_EQ(out_.of(HookId::kKernel).size(), 1u);
}

TEST_P(CaptureTest, AProcessThatHasWaitedForItsDeviceEndsAtOnce) {
  cupti_.add(call(1));
  cupti_.add(call(2, 9));
  cupti_.deliver();
  request_.on = false;
  request_.off_at = ticks();
  request_.finish = true;
  serve();

  EXPECT_EQ(capture_->state(), Capture::State::kFinished);
  EXPECT_EQ(cupti_.flushes.back(), cupti::kFlushForced);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

TEST_P(CaptureTest, AWaitForOneOfTwoContextsTellsNothingAboutTheOther) {
  KernelRecord elsewhere = kernel(1);
  elsewhere.context = 3;
  cupti_.add(kernel(1));
  cupti_.add(elsewhere);
  cupti_.add(call(2));
  cupti_.add(call(3, 9));
  cupti_.deliver();
  cupti_.request();  // the buffer of a running kernel
  switch_off();
  serve(kSecond);

  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
}

TEST_P(CaptureTest, LostLaunchesAreCountedWhileTheWindowIsOpen) {
  cupti_.add(call(1));
  cupti_.add(call(2, 9));
  cupti_.deliver();
  for (int i = 0; i < 15; ++i) flush();

  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

TEST_P(CaptureTest, AnAbruptEndDoesNotWaitForARunningKernel) {
  cupti_.add(call(1));
  cupti_.deliver();
  flush();
  request_.on = false;
  request_.off_at = ticks();
  request_.finish = request_.abrupt = true;
  serve();

  EXPECT_EQ(capture_->state(), Capture::State::kFinished);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
  EXPECT_TRUE(cupti_.kinds.empty());
}

TEST_P(CaptureTest, EverythingIsOffAfterTheWindow) {
  EXPECT_EQ(cupti_.kinds.count(cupti::kConcurrentKernelKind), 1u);
  EXPECT_EQ(cupti_.kinds.count(cupti::kKernelKind), 0u) << "it serializes kernels";
  EXPECT_EQ(cupti_.kinds.count(cupti::kRuntimeKind), 1u);
  switch_off();
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_EQ(serve(), -1);

  request_.on = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(cupti_.registrations, 2) << "another client may have registered its own in between";
  EXPECT_EQ(cupti_.clocks, 1) << "once per process";
}

TEST_P(CaptureTest, CapturedAndFailedLaunchesAreNotWaitedFor) {
  ApiRecord failed = call(1);
  failed.result = 1;
  cupti_.add(failed);
  cupti_.add(call(2, 6));  // cudaStreamBeginCapture
  cupti_.add(call(3));
  cupti_.add(call(4, 7));  // cudaStreamEndCapture
  cupti_.deliver();
  switch_off();
  serve(kSecond);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 0u);
  EXPECT_EQ(out_.of(HookId::kCudaApi)[0].flags & kFailed, kFailed);
}

// A flush does not return a buffer that holds a running kernel's record. Other records in that buffer are late.
TEST_P(CaptureTest, ABufferThatCuptiStillHasIsWaitedFor) {
  cupti_.request();
  switch_off();
  serve(kSecond);
  serve(kSecond);
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  EXPECT_TRUE(cupti_.kinds.empty()) << "nothing is on while it waits";

  cupti_.add(call(1));
  cupti_.add(kernel(1));
  cupti_.deliver();
  serve(kSecond);
  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(capture_->converter().losses(), Losses());
}

TEST_P(CaptureTest, ACuptiThatKeepsBuffersIsWaitedForOnlyOnce) {
  cupti_.request();
  switch_off();
  serve(Capture::kTimeout_ns);
  EXPECT_EQ(capture_->state(), Capture::State::kOff);

  request_.on = true;
  serve();
  cupti_.take_buffer();
  cupti_.request();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kOff);
}

TEST_P(CaptureTest, AWindowThatBeginsDuringADrainIsRecorded) {
  cupti_.request();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  request_.on = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(cupti_.kinds.count(cupti::kConcurrentKernelKind), 1u);
  EXPECT_LT(capture_->settled_until(), request_.off_at) << "the first window is not complete yet";
}

}  // namespace
}  // namespace profshim::device
