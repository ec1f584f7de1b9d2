#include <string>
#include <utility>

#include "capture_fixture.h"

namespace profshim::device {
namespace {

using cupti::KernelRecord;
using test::Collected;
using test::ScriptedCupti;

TEST_P(CaptureTest, ImpossibleTimesAreLeftOutAndCountedByReason) {
  KernelRecord zero = kernel(1), backwards = kernel(2), future = kernel(3), past = kernel(4);
  zero.start = zero.end = 0;
  std::swap(backwards.start, backwards.end);
  future.end = ~std::uint64_t{0};
  past.start = 1;
  for (const KernelRecord& record : {zero, backwards, future, past, kernel(5)}) cupti_.add(record);
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(out_.of(HookId::kKernel)[0].gpu.correlation, 5u);
  EXPECT_EQ(capture_->converter().losses().times.zero, 1u);
  EXPECT_EQ(capture_->converter().losses().times.reversed, 1u);
  EXPECT_EQ(capture_->converter().losses().times.outside, 2u);
}

TEST_P(CaptureTest, ABufferThatEndsInsideARecordIsReadUpToThatRecord) {
  cupti_.add(kernel(1));
  cupti_.add(kernel(2));
  cupti_.deliver(/*cut=*/GetParam().kernel - 100);
  flush();

  EXPECT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(capture_->converter().losses().truncated, 1u);
}

TEST_P(CaptureTest, UnknownKindsAndDroppedRecordsAreCounted) {
  cupti_.add(cupti::ExternalRecord{54, 0, 0, 0});
  cupti_.add(kernel(1));
  cupti_.deliver();
  cupti_.dropped = 7;
  flush();

  EXPECT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(capture_->converter().losses().unknown_kinds, 1u);
  EXPECT_EQ(capture_->converter().losses().by_cupti, 7u);
  EXPECT_TRUE(capture_->take_overflow());
  EXPECT_FALSE(capture_->take_overflow());
}

TEST_P(CaptureTest, ARequestTooManyIsRefusedOnlyIfCuptiAcceptsThat) {
  const bool may_refuse = GetParam().version >= cupti::kMayRefuseBuffers;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(cupti_.request());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(cupti_.request(), !may_refuse);

  const BufferPool::Counts counts = capture_->pool().counts();
  EXPECT_EQ(counts.refused, may_refuse ? 20u : 0u);
  EXPECT_EQ(counts.reserved, may_refuse ? 0u : 20u);
}

TEST_P(CaptureTest, BuffersMayComeInAnyOrderAndBuffersOfOthersAreCounted) {
  cupti_.add(call(1));
  cupti_.deliver();
  cupti_.add(kernel(1));
  cupti_.deliver();
  cupti_.reverse_deliveries();
  std::uint8_t foreign[64] = {};
  cupti_.complete_foreign(foreign);
  flush();

  EXPECT_EQ(out_.events.size(), 2u);
  EXPECT_EQ(capture_->pool().counts().foreign, 1u);
  EXPECT_EQ(capture_->converter().launches().oldest_outstanding(), LaunchTracker::kNothing);
}

// An exception on profshim's thread would end the job.
TEST_P(CaptureTest, WithoutMemoryItLetsGoOfCuptiForGood) {
  cupti_.add(kernel(1));
  cupti_.deliver();
  out_.no_memory = true;
  flush();

  EXPECT_EQ(capture_->state(), Capture::State::kFinished);
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_STRNE(capture_->failure(), "");
  EXPECT_EQ(capture_->settled_until(), Capture::kEverything);
  const std::size_t flushes = cupti_.flushes.size();
  EXPECT_EQ(serve(kSecond), -1);
  EXPECT_EQ(cupti_.flushes.size(), flushes);
}

TEST_P(CaptureTest, KindsThatCuptiRefusesAreListed) {
  EXPECT_EQ(capture_->not_recorded(), "");
  switch_off();
  cupti_.refused_kinds = {cupti::kMemcpyKind, cupti::kOverheadKind, cupti::kDriverKind};
  request_.on = true;
  serve();

  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(capture_->not_recorded(), "copies, calls of the driver");
}

TEST(Capture, ACuptiThatRefusesKernelsLeavesTheCaptureOff) {
  ScriptedCupti cupti;
  cupti.enable_result = 999;
  Collected out;
  Capture capture(cupti.api(), out, {});
  EXPECT_EQ(capture.prepare(id_places_of_this_thread()), "");
  CaptureRequest request;
  request.on = true;
  capture.serve(request, 1);
  EXPECT_TRUE(capture.refused());
  EXPECT_EQ(capture.state(), Capture::State::kOff);
  EXPECT_EQ(capture.settled_until(), Capture::kEverything);
}

TEST(Capture, ACuptiBefore118IsNotUsed) {
  ScriptedCupti cupti({17, 200, 88, 40, 48});
  Collected out;
  Capture capture(cupti.api(), out, {});
  EXPECT_NE(capture.prepare(id_places_of_this_thread()).find("older than 11.8"), std::string::npos);
}

}  // namespace
}  // namespace profshim::device
