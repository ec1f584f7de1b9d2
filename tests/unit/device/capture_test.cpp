// What becomes of CUPTI's records, in every generation of their layout and with every fault.
#include "device/capture/capture.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "scripted_cupti.h"

namespace profshim::device {
namespace {

using cupti::ApiRecord;
using cupti::KernelRecord;
using test::Collected;
using test::ScriptedCupti;
constexpr std::int64_t kSecond = 1'000'000'000;

class CaptureTest : public ::testing::TestWithParam<test::RecordSizes> {
 protected:
  CaptureTest() : cupti_(GetParam()) {
    use_clock(ClockKind::kMonotonic);
    CaptureOptions options;
    options.buffers = 4;
    options.buffer_bytes = 16 << 10;
    options.external = true;
    capture_ = std::make_unique<Capture>(cupti_.api(), out_, options);
    EXPECT_EQ(capture_->prepare(id_places_of_this_thread()), "");
    request_.on = true;
    serve();
    begin_ = ticks();
  }

  std::int64_t serve(std::int64_t after_ns = 0) { return capture_->serve(request_, now_ns_ += after_ns); }
  void flush() { serve(Capture::kFlushEvery_ns); }
  void switch_off() {
    request_.on = false;
    request_.off_at = ticks();
    serve();
  }

  ApiRecord call(std::uint32_t correlation, std::uint32_t id = 1, std::uint32_t kind = cupti::kRuntimeKind) const {
    return {kind, id, begin_ + correlation * 100, begin_ + correlation * 100 + 50, 1, 0x7000, correlation, 0};
  }
  KernelRecord kernel(std::uint32_t correlation, const char* name = "_Z6kernelv") const {
    KernelRecord record{};
    record.kind = cupti::kConcurrentKernelKind;
    record.start = begin_ + correlation * 100 + 60;
    record.end = begin_ + correlation * 100 + 90;
    record.device = 1;
    record.context = 2;
    record.stream = 7;
    record.grid[0] = 3;
    record.block[0] = 64;
    record.registers_per_thread = 40;
    record.correlation = correlation;
    record.name = name;
    record.graph_node = 0;
    record.cluster[0] = 2;
    return record;
  }

  ScriptedCupti cupti_;
  Collected out_;
  std::unique_ptr<Capture> capture_;
  CaptureRequest request_;
  std::int64_t now_ns_ = 1000 * kSecond;
  Ticks begin_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Versions, CaptureTest, ::testing::Values(test::kCupti118, test::kCupti124, test::kCupti130),
                         [](const auto& p) { return "api" + std::to_string(p.param.version); });

TEST_P(CaptureTest, ALaunchAndItsKernelBecomeEventsJoinedByTheirCorrelation) {
  cupti_.add(call(5));
  cupti_.add(kernel(5));
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kCudaApi).size(), 1u);
  const Event launch = out_.of(HookId::kCudaApi)[0];
  EXPECT_EQ(out_.name_of(launch), "cudaLaunchKernel");
  EXPECT_EQ(launch.begin, begin_ + 500);
  EXPECT_EQ(launch.api.correlation, 5u);
  EXPECT_EQ(launch.api.is_launch, 1);
  ASSERT_EQ(out_.of(HookId::kKernel).size(), 1u);
  const Event work = out_.of(HookId::kKernel)[0];
  EXPECT_EQ(out_.name_of(work), "_Z6kernelv");
  EXPECT_EQ(work.gpu.correlation, 5u);
  EXPECT_EQ(work.gpu.device, 1);
  EXPECT_EQ(work.gpu.stream, 7u);
  EXPECT_EQ(work.flags & kContinues, kContinues);
  ASSERT_EQ(out_.continuations.size(), 1u);
  EXPECT_EQ(out_.continuations[0].kernel.grid[0], 3u);
  EXPECT_EQ(out_.continuations[0].kernel.block[0], 64);
  EXPECT_EQ(out_.continuations[0].kernel.registers_per_thread, 40);
  EXPECT_EQ(out_.continuations[0].kernel.cluster[0], 2);
  EXPECT_EQ(capture_->converter().losses(), Losses());
}

TEST_P(CaptureTest, RecordsBehindOneThatGrewAreFound) {
  for (std::uint32_t i = 1; i <= 20; ++i) {
    cupti_.add(kernel(i));
    cupti::MemcpyRecord copy{};
    copy.kind = cupti::kMemcpyKind;
    copy.copy_kind = 1;
    copy.source_kind = 1;
    copy.destination_kind = 3;
    copy.bytes = 4096 + i;
    copy.start = begin_ + 1;
    copy.end = begin_ + 2;
    copy.correlation = 1000 + i;
    cupti_.add(copy);
  }
  cupti_.deliver();
  flush();

  EXPECT_EQ(out_.of(HookId::kKernel).size(), 20u);
  ASSERT_EQ(out_.of(HookId::kMemcpy).size(), 20u);
  EXPECT_EQ(out_.of(HookId::kMemcpy)[19].gpu.bytes, 4116u);
  EXPECT_EQ(out_.of(HookId::kMemcpy)[19].gpu.kind, 1 | 1 << 4 | 3 << 8);
}

TEST_P(CaptureTest, AWaitIsForTheLastRecordOfItsEventBeforeIt) {
  const auto recorded = [](std::uint32_t correlation) {
    return cupti::CudaEventRecord{cupti::kCudaEventKind, correlation, 2, 13, 9};
  };
  const auto wait = [this](std::uint32_t correlation) {
    return cupti::SynchronizationRecord{cupti::kSynchronizationKind,
                                        2,
                                        begin_ + correlation * 100,
                                        begin_ + correlation * 100 + 9,
                                        correlation,
                                        2,
                                        7,
                                        9};
  };
  cupti_.add(wait(4));  // for what was recorded before we looked
  cupti_.add(wait(6));
  cupti_.add(wait(8));
  cupti_.add(recorded(7));
  cupti_.add(recorded(5));
  cupti_.deliver();
  flush();
  cupti_.add(wait(9));
  cupti_.add(recorded(10));
  cupti_.deliver();
  flush();

  std::vector<std::uint64_t> records;
  for (const Event& event : out_.of(HookId::kCudaSync)) records.push_back(event.gpu.graph_node);
  EXPECT_EQ(records, (std::vector<std::uint64_t>{~0ull, 5, 7, 7}));
}

// The buffer of the thread that waits is full and comes back at once, that of the thread that recorded the event comes
// with the flush.
TEST_P(CaptureTest, AWaitKnowsARecordThatComesLaterThanItself) {
  cupti_.add(cupti::CudaEventRecord{cupti::kCudaEventKind, 5, 2, 13, 9});
  cupti_.deliver();
  flush();
  cupti_.add(cupti::SynchronizationRecord{cupti::kSynchronizationKind, 2, begin_ + 800, begin_ + 809, 8, 2, 7, 9});
  cupti_.complete();
  serve();
  cupti_.add(cupti::CudaEventRecord{cupti::kCudaEventKind, 7, 2, 14, 9});
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kCudaSync).size(), 1u);
  EXPECT_EQ(out_.of(HookId::kCudaSync)[0].gpu.graph_node, 7u);
  EXPECT_EQ(out_.of(HookId::kCudaSync)[0].gpu.external, 14u);
}

TEST_P(CaptureTest, ASynchronisationIsOnTheDeviceOfItsContext) {
  cupti_.add(cupti::SynchronizationRecord{cupti::kSynchronizationKind, 3, begin_ + 1, begin_ + 9, 6, 2, 7, ~0u});
  cupti_.add(kernel(5));  // tells that context 2 is of device 1
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kCudaSync).size(), 1u);
  EXPECT_EQ(out_.of(HookId::kCudaSync)[0].gpu.device, 1);
}

TEST_P(CaptureTest, WaitsAreRecordedOnlyWhereTheSpecSaysSo) {
  EXPECT_FALSE(cupti_.kinds.contains(cupti::kSynchronizationKind));
  CaptureOptions options;
  options.synchronization = true;
  capture_.reset();
  Capture with(cupti_.api(), out_, options);
  EXPECT_EQ(with.prepare(id_places_of_this_thread()), "");
  with.serve(request_, now_ns_);
  EXPECT_TRUE(cupti_.kinds.contains(cupti::kSynchronizationKind));
  EXPECT_TRUE(cupti_.kinds.contains(cupti::kCudaEventKind));
}

TEST_P(CaptureTest, TheDriversCallInsideTheRuntimesIsAPartOfIt) {
  ApiRecord inner = call(5, 1, cupti::kDriverKind);
  inner.start += 10;
  inner.end -= 10;
  cupti_.add(inner);
  cupti_.add(call(5));
  cupti_.deliver();
  flush();
  flush();

  ASSERT_EQ(out_.of(HookId::kCudaApi).size(), 1u);
  EXPECT_EQ(out_.of(HookId::kCudaApi)[0].api.is_runtime, 1);
}

// The first buffer of the thread is full after the driver's call; another thread fills one as well before the flush
// brings the rest.
TEST_P(CaptureTest, TheDriversCallWaitsForTheRuntimesUntilAFlush) {
  ApiRecord inner = call(6, 3, cupti::kDriverKind);  // cuMemAlloc, inside a call of another number
  inner.start = call(5, 5).start + 10;
  inner.end = call(5, 5).end - 10;
  cupti_.add(inner);
  cupti_.complete();
  serve();
  cupti_.add(kernel(1));
  cupti_.complete();
  serve();
  cupti_.add(call(5, 5));
  cupti_.deliver();
  flush();
  flush();

  ASSERT_EQ(out_.of(HookId::kCudaApi).size(), 1u);
  EXPECT_EQ(out_.of(HookId::kCudaApi)[0].api.is_runtime, 1);
}

TEST_P(CaptureTest, OneLaunchPerCorrelationAlsoWhenTheRuntimesRecordComesLate) {
  ApiRecord inner = call(5, 1, cupti::kDriverKind);
  inner.start += 10;
  inner.end -= 10;
  cupti_.add(inner);
  cupti_.deliver();
  flush();
  flush();
  cupti_.add(call(5));
  cupti_.deliver();
  flush();

  int launches = 0;
  for (const Event& event : out_.of(HookId::kCudaApi)) launches += event.api.is_launch;
  EXPECT_EQ(out_.of(HookId::kCudaApi).size(), 2u);
  EXPECT_EQ(launches, 1);
}

TEST_P(CaptureTest, ADriversCallOfItsOwnIsWrittenOneRoundLater) {
  cupti_.add(call(5, 1, cupti::kDriverKind));
  cupti_.add(call(6, 2, cupti::kDriverKind));  // cuCtxGetCurrent
  cupti_.deliver();
  flush();
  EXPECT_EQ(out_.of(HookId::kCudaApi).size(), 0u);
  flush();
  ASSERT_EQ(out_.of(HookId::kCudaApi).size(), 1u);
  EXPECT_EQ(out_.name_of(out_.of(HookId::kCudaApi)[0]), "cuLaunchKernel");
}

TEST_P(CaptureTest, AnOperationReachesItsCallAndItsWorkWhicheverBufferComesFirst) {
  cupti_.add(kernel(5));
  cupti_.deliver();
  cupti_.add(call(5));
  cupti_.deliver();
  const cupti::ExternalRecord ours{cupti::kExternalCorrelationKind, cupti::kOurExternalKind, 77, 5};
  const cupti::ExternalRecord other{cupti::kExternalCorrelationKind, 3, 99, 5};
  cupti_.add(ours);
  cupti_.add(other);
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(out_.of(HookId::kKernel)[0].gpu.external, 77u);
  EXPECT_EQ(out_.of(HookId::kCudaApi)[0].api.external, 77u);
}

// ---- faults
// ----------------------------------------------------------------------------------------------------------

TEST_P(CaptureTest, ImpossibleTimesAreCountedByReasonAndLeftOut) {
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
  EXPECT_EQ(capture_->converter().losses().no_time, 1u);
  EXPECT_EQ(capture_->converter().losses().backwards, 1u);
  EXPECT_EQ(capture_->converter().losses().outside, 2u);
}

TEST_P(CaptureTest, ABufferThatEndsInsideARecordIsReadUpToThere) {
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

TEST_P(CaptureTest, ARequestTooManyIsRefusedOnlyWhereCuptiTakesThatForAnAnswer) {
  const bool may_refuse = GetParam().version >= cupti::kMayRefuseBuffers;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(cupti_.request());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(cupti_.request(), !may_refuse);

  const BufferPool::Counts counts = capture_->pool().counts();
  EXPECT_EQ(counts.refused, may_refuse ? 20u : 0u);
  EXPECT_EQ(counts.reserved, may_refuse ? 0u : 20u);
}

TEST(LaunchTracker, WaitsForNoMoreLaunchesThanItsMemoryHolds) {
  LaunchTracker tracker(64 << 10);
  for (std::uint32_t i = 1; i <= 10000; ++i) tracker.on_launch(i, i, 1, ApiRole::kLaunch);
  EXPECT_LT(tracker.size(), 1000u);
  EXPECT_GT(tracker.size(), 300u);
}

TEST_P(CaptureTest, BuffersInAnyOrderAndBuffersOfOthers) {
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

// An exception on our thread would end the job.
TEST_P(CaptureTest, WithoutMemoryItLetsGoOfCuptiForGood) {
  cupti_.add(kernel(1));
  cupti_.deliver();
  out_.no_memory = true;
  flush();

  EXPECT_EQ(capture_->state(), Capture::State::kFinished);
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_TRUE(cupti_.runtime_calls.empty());
  EXPECT_STRNE(capture_->failure(), "");
  EXPECT_EQ(capture_->settled_until(), Capture::kEverything);
  const std::size_t flushes = cupti_.flushes.size();
  EXPECT_EQ(serve(kSecond), -1);
  EXPECT_EQ(cupti_.flushes.size(), flushes);
}

TEST_P(CaptureTest, WhatCuptiRefusesToRecordBesideTheKernelsIsKnown) {
  EXPECT_EQ(capture_->not_recorded(), "");
  switch_off();
  cupti_.refused_kinds = {cupti::kMemcpyKind, cupti::kOverheadKind, cupti::kDriverKind};
  request_.on = true;
  serve();

  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(capture_->not_recorded(), "copies, calls of the driver");
}

// ---- waiting
// ---------------------------------------------------------------------------------------------------------

TEST_P(CaptureTest, AWindowWaitsForTheWorkOfItsLaunches) {
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

TEST_P(CaptureTest, WorkThatNeverComesIsGivenUpAndCounted) {
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

// Without a buffer at CUPTI nothing is under way.
TEST_P(CaptureTest, WorkThatCuptiHasDroppedIsNotWaitedForLong) {
  cupti_.add(call(1));
  cupti_.deliver();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  serve(Capture::kQuietTime_ns);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

// Buffers come in any order: that of the device before those of the threads.
TEST_P(CaptureTest, WorkThatComesBeforeBothRecordsOfItsLaunchIsNotMissed) {
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

TEST_P(CaptureTest, AfterTheJobHasWaitedForItsDeviceNothingIsWaitedForLong) {
  cupti_.add(call(1));
  cupti_.add(call(2, 9));  // cudaDeviceSynchronize
  cupti_.add(call(3));
  cupti_.add(kernel(3));
  cupti_.deliver();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining) << "its record may be under way";
  serve(kSecond / 2);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

TEST_P(CaptureTest, WorkThatComesAMomentAfterTheJobHasWaitedIsThere) {
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

TEST_P(CaptureTest, TheEndOfAProcessThatHasWaitedForItsDeviceTakesNoTime) {
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

TEST_P(CaptureTest, AWaitOfOneOfTwoContextsSaysNothingOfTheOther) {
  KernelRecord elsewhere = kernel(1);
  elsewhere.context = 3;
  cupti_.add(kernel(1));
  cupti_.add(elsewhere);
  cupti_.add(call(2));
  cupti_.add(call(3, 9));
  cupti_.deliver();
  cupti_.request();  // the buffer with the record of a kernel that runs
  switch_off();
  serve(kSecond);

  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
}

// A stream runs in order.
TEST_P(CaptureTest, WhatEveryStreamHasPassedIsNotWaitedForLong) {
  cupti_.add(cupti::StreamRecord{cupti::kStreamKind, 2, 7, 0, 0});
  cupti_.add(call(1));
  cupti_.deliver();
  switch_off();
  cupti_.add(call(2));
  cupti_.add(kernel(2));
  cupti_.deliver();
  serve(kSecond / 10);
  EXPECT_EQ(capture_->state(), Capture::State::kDraining) << "its record may be under way";
  serve(kSecond / 2);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

TEST_P(CaptureTest, AStreamThatHasShownNothingLaterMayStillRunWhatIsMissing) {
  KernelRecord elsewhere = kernel(1);
  elsewhere.stream = 20;
  cupti_.add(elsewhere);
  cupti_.add(call(2));
  cupti_.add(kernel(3));
  cupti_.deliver();
  cupti_.request();  // the buffer with the record of a kernel that runs
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

TEST_P(CaptureTest, AStreamThatHasNeverShownWorkMayRunWhatIsMissing) {
  cupti_.add(cupti::StreamRecord{cupti::kStreamKind, 2, 20, 0, 0});
  cupti_.add(call(1));
  cupti_.add(kernel(2));
  cupti_.deliver();
  cupti_.request();  // the buffer with the record of a kernel that runs
  switch_off();
  serve(kSecond);

  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
}

// cudaStreamSynchronize, where capture.cuda_sync is set: no later work need follow.
TEST_P(CaptureTest, WhatEveryStreamWasWaitedForIsNotWaitedForLong) {
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

// Its launch was given up after 0.3 s, because every stream that had shown work had passed it.
TEST(LaunchTracker, AKernelMayRunOnAStreamOlderThanTheRecording) {
  for (const bool told : {false, true}) {
    LaunchTracker tracker(64 << 10);
    tracker.streams().set_streams_are_dumped(told);
    if (told) {
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

TEST(LaunchTracker, CorrelationsThatBeginAnewAreLater) {
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

TEST_P(CaptureTest, WhatIsMissingWhileTheWindowGoesOnIsCountedToo) {
  cupti_.add(call(1));
  cupti_.add(call(2, 9));
  cupti_.deliver();
  for (int i = 0; i < 15; ++i) flush();

  EXPECT_EQ(capture_->converter().losses().launches, 1u);
}

TEST_P(CaptureTest, TheEndOfTheProcessIsNotHeldUpByAKernelThatStillRuns) {
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

TEST_P(CaptureTest, AfterTheWindowEverythingIsOffAsBefore) {
  EXPECT_EQ(cupti_.kinds.count(cupti::kConcurrentKernelKind), 1u);
  EXPECT_EQ(cupti_.kinds.count(cupti::kKernelKind), 0u) << "it serialises";
  EXPECT_EQ(cupti_.kinds.count(cupti::kRuntimeKind), 0u) << "calls are switched on one by one";
  EXPECT_EQ(cupti_.runtime_calls.count(1), 1u);
  EXPECT_EQ(cupti_.runtime_calls.count(2), 0u) << "cudaGetDevice";
  switch_off();
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_TRUE(cupti_.runtime_calls.empty());
  EXPECT_EQ(serve(), -1);

  request_.on = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(cupti_.registrations, 2) << "another client may have registered its own in between";
  EXPECT_EQ(cupti_.clocks, 1) << "once per process";
}

TEST_P(CaptureTest, LaunchesIntoAGraphAndFailedOnesAreNotWaitedFor) {
  ApiRecord failed = call(1);
  failed.result = 1;
  cupti_.add(failed);
  cupti_.add(call(2, 6));  // begin of a capture
  cupti_.add(call(3));
  cupti_.add(call(4, 7));  // its end
  cupti_.deliver();
  switch_off();
  serve(kSecond);

  EXPECT_EQ(capture_->state(), Capture::State::kOff);
  EXPECT_EQ(capture_->converter().losses().launches, 0u);
  EXPECT_EQ(out_.of(HookId::kCudaApi)[0].flags & kFailed, kFailed);
}

// ---- other clients
// ---------------------------------------------------------------------------------------------------

TEST_P(CaptureTest, AnotherClientGetsACuptiThatIsOffAndOursComesBack) {
  cupti_.add(kernel(1));
  cupti_.deliver();
  cupti_.request();  // stays with CUPTI
  request_.yield = true;
  serve();
  std::free(cupti_.take_buffer());  // as the other client may, when it is handed what it did not ask for
  EXPECT_EQ(capture_->state(), Capture::State::kYielded);
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_EQ(capture_->settled_until(), Capture::kEverything);

  request_.yield = false;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(cupti_.registrations, 2);
  EXPECT_EQ(cupti_.clocks, 1);
}

// CUPTI gives the first kernel after every registration times of CLOCK_REALTIME: pytorch#192021.
TEST_P(CaptureTest, TheClockOfAnotherClientStaysInForceAndIsConverted) {
  request_.yield = true;
  serve();
  request_.yield = false;
  request_.foreign_clock = [] { return static_cast<std::uint64_t>(2 * monotonic_ns()); };
  serve();
  EXPECT_EQ(cupti_.clocks, 1);

  const auto at = static_cast<std::uint64_t>(monotonic_ns());
  KernelRecord theirs = kernel(1);
  theirs.start = 2 * at;
  theirs.end = 2 * at + 2000;
  cupti_.add(theirs);
  cupti_.deliver();
  flush();
  ASSERT_EQ(out_.of(HookId::kKernel).size(), 1u);
  EXPECT_NEAR(static_cast<double>(out_.of(HookId::kKernel)[0].begin), static_cast<double>(at), 1e6);
}

TEST_P(CaptureTest, ARecordWithTimesOfTheWallClockAmongOthersIsConverted) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const auto wall = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  const Ticks at = ticks();
  KernelRecord head = kernel(1);
  head.start = wall;
  head.end = wall + 5000;
  cupti_.add(head);
  cupti_.add(kernel(2));
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kKernel).size(), 2u);
  EXPECT_NEAR(static_cast<double>(out_.of(HookId::kKernel)[0].begin), static_cast<double>(at), 1e6);
  EXPECT_EQ(out_.of(HookId::kKernel)[1].begin, begin_ + 260);
  EXPECT_EQ(capture_->converter().losses(), Losses());
}

TEST_P(CaptureTest, TheClockIsNotOursWhereItMayNotBeRegistered) {
  CaptureOptions options;
  options.own_clock = false;
  capture_.reset();
  const int before = cupti_.clocks;
  Capture without(cupti_.api(), out_, options);
  EXPECT_EQ(without.prepare(id_places_of_this_thread()), "");
  without.serve(request_, now_ns_);
  EXPECT_EQ(cupti_.clocks, before);
  EXPECT_STREQ(without.converter().clock().name(), "realtime, converted");
}

// A buffer that another client has asked for and never flushed.
TEST_P(CaptureTest, ABufferOfAnotherClientGoesToItsOwner) {
  static std::uint8_t* got = nullptr;
  std::uint8_t theirs[64] = {};
  cupti_.complete_foreign(theirs);
  EXPECT_EQ(capture_->pool().counts().foreign, 1u);
  forward_foreign_buffers([](void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) { got = buffer; });
  cupti_.complete_foreign(theirs);
  forward_foreign_buffers(nullptr);
  EXPECT_EQ(got, theirs);
  EXPECT_EQ(capture_->pool().counts().foreign, 1u);
}

// CUPTI writes the records of devices, contexts and streams that exist only when it is asked to dump them.
TEST_P(CaptureTest, WhatExistsAlreadyIsAskedForInEveryWindow) {
  using Kinds = std::set<std::uint32_t>;
  EXPECT_EQ(cupti_.dumped_kinds, (Kinds{cupti::kDeviceKind, cupti::kContextKind, cupti::kStreamKind}));
  switch_off();
  cupti_.dumped_kinds.clear();
  request_.on = true;
  serve();
  EXPECT_EQ(cupti_.dumped_kinds, (Kinds{cupti::kDeviceKind, cupti::kContextKind, cupti::kStreamKind}));
}

TEST_P(CaptureTest, NothingIsRegisteredBeforeAWindowOpens) {
  capture_.reset();
  const int before = cupti_.registrations;
  Capture fresh(cupti_.api(), out_, {});
  EXPECT_EQ(fresh.prepare(id_places_of_this_thread()), "");
  fresh.serve({}, now_ns_);
  EXPECT_EQ(cupti_.registrations, before);
}

// The record of a kernel lies in its buffer from the launch on, and a flush returns no buffer with an incomplete
// record: the records of calls in it are late as well.
TEST_P(CaptureTest, ABufferThatIsStillWithCuptiIsWaitedFor) {
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

TEST_P(CaptureTest, ACuptiThatKeepsABufferIsWaitedForOnceOnly) {
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

TEST_P(CaptureTest, AWindowThatBeginsWhileTheLastOneDrainsIsRecorded) {
  cupti_.request();
  switch_off();
  EXPECT_EQ(capture_->state(), Capture::State::kDraining);
  request_.on = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn);
  EXPECT_EQ(cupti_.kinds.count(cupti::kConcurrentKernelKind), 1u);
  EXPECT_LT(capture_->settled_until(), request_.off_at) << "the first one is not whole yet";
}

// What is registered is the other client's: it would get our records.
TEST_P(CaptureTest, NothingIsRecordedIntoTheBuffersOfAClientThatHasLeft) {
  request_.yield = true;
  serve();
  cupti_.registration_result = 35;
  request_.yield = false;
  serve();
  EXPECT_TRUE(cupti_.kinds.empty());
  EXPECT_TRUE(capture_->refused());

  cupti_.registration_result = 0;
  switch_off();
  request_.on = true;
  serve();
  EXPECT_EQ(capture_->state(), Capture::State::kOn) << "the next window tries again";
}

TEST_P(CaptureTest, NothingIsTouchedOnceTheOtherClientHasBegun) {
  const std::set<std::uint32_t> on = cupti_.kinds;
  const std::size_t flushes = cupti_.flushes.size();
  request_.yield = request_.yielded_too_late = true;
  serve();

  EXPECT_EQ(capture_->state(), Capture::State::kYielded);
  EXPECT_EQ(cupti_.kinds, on) << "what is on may be its own wish";
  EXPECT_EQ(cupti_.flushes.size(), flushes);
}

TEST(Capture, ACuptiThatRefusesKernelsIsRefusedOnceAndHarmsNobody) {
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

TEST(Capture, AnOlderCuptiIsNotUsed) {
  ScriptedCupti cupti({17, 200, 88, 40, 48});
  Collected out;
  Capture capture(cupti.api(), out, {});
  EXPECT_NE(capture.prepare(id_places_of_this_thread()).find("older than 11.8"), std::string::npos);
}

TEST(RecordClock, WallClockTimesAreBroughtOverBetweenKnownMoments) {
  constexpr Ticks kLatest = 1'000'000;
  RecordClock clock;
  clock.use_ticks(false);
  EXPECT_EQ(clock.of(5000, 6000, kLatest), 0u) << "nothing is known yet";
  clock.add({1000, 0, 10000});
  clock.add({3000, 0, 14000});
  clock.add({4000, 0, 13000});  // the wall clock was set back
  EXPECT_EQ(clock.of(10000, 1, kLatest), 1000u);
  EXPECT_EQ(clock.of(12000, 1, kLatest), 2000u);
  EXPECT_EQ(clock.of(16000, 1, kLatest), 4000u);
  EXPECT_EQ(clock.of(0, 1, kLatest), 0u);
  clock.use_ticks(true);
  EXPECT_EQ(clock.of(12000, 1, kLatest), 12000u);
  EXPECT_EQ(clock.of(12000, 1, 9000), 2000u) << "no time of ours";
  EXPECT_EQ(clock.of(90000, 1, 9000), 90000u) << "no time at all";
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
  EXPECT_EQ(clock.of(800, 1500, 9000), 3000u);
  EXPECT_EQ(clock.of(30000, 1500, 9000), 3000u) << "a time of the wall clock among them";
  EXPECT_STREQ(clock.name(), "another client's, converted");
}

TEST(ApiNames, NamesLoseTheirVersionsAndOnlyWhatMovesTheDeviceIsRecorded) {
  EXPECT_EQ(plain_api_name("__cudaLaunchKernel_v13000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cudaStreamGetCaptureInfo_v2"), "cudaStreamGetCaptureInfo_v2");
  EXPECT_EQ(role_of_api("cudaLaunchKernelExC"), ApiRole::kLaunch);
  EXPECT_EQ(role_of_api("cuGraphLaunch"), ApiRole::kGraphLaunch);
  EXPECT_EQ(role_of_api("cudaMemcpyPeerAsync"), ApiRole::kLaunch);
  EXPECT_EQ(role_of_api("cuMemcpyHtoD_v2"), ApiRole::kSyncLaunch);
  EXPECT_EQ(role_of_api("cudaLaunchHostFunc"), ApiRole::kOther);
  EXPECT_EQ(role_of_api("cudaEventSynchronize"), ApiRole::kOther);
  EXPECT_EQ(role_of_api("cudaMallocAsync"), ApiRole::kOther);
  for (const char* noise : {"cudaGetDevice", "cudaGetLastError", "cuCtxGetCurrent", "cudaEventQuery"}) {
    EXPECT_EQ(role_of_api(noise), ApiRole::kIgnored) << noise;
  }
}

std::uint32_t raw_self() { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pthread_self())); }

TEST(ThreadIds, ALivingThreadIsFoundByHalfOfItsAddressAndADeadOneWhereItWasMet) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the control block is known on x86-64 only";
#endif
  static SeenThreads seen;
  ThreadIds ids;
  ids.also_ask(&seen);
  ids.learn(id_places_of_this_thread());
  std::uint32_t met_raw = 0;
  std::int32_t met_tid = 0;
  std::thread([&] {
    ids.learn(id_places_of_this_thread());
    seen.add_this_thread();
    met_raw = raw_self();
    met_tid = static_cast<std::int32_t>(syscall(SYS_gettid));
    EXPECT_EQ(ids.of(met_raw), met_tid);
  }).join();
  EXPECT_EQ(ids.of(raw_self()), static_cast<std::int32_t>(syscall(SYS_gettid)));
  ids.begin_batch();
  EXPECT_EQ(ids.of(met_raw), met_tid);
  EXPECT_EQ(ids.of(0x12340), 0);
}

TEST(DeviceProperties, AsKinetoWritesThem) {
  cupti::DeviceRecord record{};
  record.name = "A \"GPU\"";
  record.id = 900;
  record.memory_bytes = 80ull << 30;
  record.threads_per_warp = 32;
  record.warps_per_multiprocessor = 64;
  record.shared_per_multiprocessor = 233472;
  record.major = 9;
  const std::string json = device_properties(record);
  EXPECT_NE(json.find("\"name\": \"A \\\"GPU\\\"\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"maxThreadsPerMultiprocessor\": 2048"), std::string::npos) << json;
  EXPECT_NE(json.find("\"sharedMemPerBlockOptin\": 232448"), std::string::npos) << json;
}

}  // namespace
}  // namespace profshim::device
