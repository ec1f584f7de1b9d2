#include <vector>

#include "capture_fixture.h"

namespace profshim::device {
namespace {

using cupti::ApiRecord;

INSTANTIATE_TEST_SUITE_P(Versions, CaptureTest, ::testing::Values(test::kCupti118, test::kCupti124, test::kCupti130),
                         [](const auto& p) { return "api" + std::to_string(p.param.version); });

TEST_P(CaptureTest, ALaunchAndItsKernelBecomeEventsWithOneCorrelationId) {
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

TEST_P(CaptureTest, RecordsAfterALongerRecordOfANewReleaseAreRead) {
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

TEST_P(CaptureTest, AWaitIsForTheLastEventRecordBeforeIt) {
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
  cupti_.add(wait(4));  // no cudaEventRecord was recorded for this wait
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
  for (const Event& event : out_.of(HookId::kCudaSync)) records.push_back(event.sync.record);
  EXPECT_EQ(records, (std::vector<std::uint64_t>{~0ull, 5, 7, 7}));
}

TEST_P(CaptureTest, AWaitFindsAnEventRecordFromBeforeTheIdsWrapped) {
  const auto wait = [this](std::uint32_t correlation) {
    return cupti::SynchronizationRecord{
        cupti::kSynchronizationKind, 2, begin_ + 800, begin_ + 809, correlation, 2, 7, 9};
  };
  cupti_.add(cupti::CudaEventRecord{cupti::kCudaEventKind, 2, 2, 13, 9});
  cupti_.add(cupti::CudaEventRecord{cupti::kCudaEventKind, 0xfffffffeu, 2, 13, 9});
  cupti_.add(wait(1));
  cupti_.add(wait(5));
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kCudaSync).size(), 2u);
  EXPECT_EQ(out_.of(HookId::kCudaSync)[0].sync.record, 0xfffffffeu);
  EXPECT_EQ(out_.of(HookId::kCudaSync)[1].sync.record, 2u);
}

TEST_P(CaptureTest, AWaitFindsAnEventRecordThatArrivesLater) {
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
  EXPECT_EQ(out_.of(HookId::kCudaSync)[0].sync.record, 7u);
  EXPECT_EQ(out_.of(HookId::kCudaSync)[0].sync.record_stream, 14u);
}

TEST_P(CaptureTest, ASynchronizationIsOnTheDeviceOfItsContext) {
  cupti_.add(cupti::SynchronizationRecord{cupti::kSynchronizationKind, 3, begin_ + 1, begin_ + 9, 6, 2, 7, ~0u});
  cupti_.add(kernel(5));  // on device 1
  cupti_.deliver();
  flush();

  ASSERT_EQ(out_.of(HookId::kCudaSync).size(), 1u);
  EXPECT_EQ(out_.of(HookId::kCudaSync)[0].sync.device, 1);
}

TEST_P(CaptureTest, WaitsAreRecordedOnlyIfTheSpecAsksForThem) {
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

TEST_P(CaptureTest, ADriverCallInsideARuntimeCallIsDropped) {
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

TEST_P(CaptureTest, ADriverCallIsHeldUntilAFlush) {
  ApiRecord inner = call(6, 3, cupti::kDriverKind);  // cuMemAlloc has its own correlation id
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

TEST_P(CaptureTest, ACorrelationIdHasOneLaunchAlsoIfTheRuntimeRecordComesLate) {
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

TEST_P(CaptureTest, ADriverCallOutsideRuntimeCallsIsWrittenOneRoundLater) {
  cupti_.add(call(5, 1, cupti::kDriverKind));
  cupti_.add(call(6, 2, cupti::kDriverKind));  // cuCtxGetCurrent
  cupti_.deliver();
  flush();
  EXPECT_EQ(out_.of(HookId::kCudaApi).size(), 0u);
  flush();
  ASSERT_EQ(out_.of(HookId::kCudaApi).size(), 1u);
  EXPECT_EQ(out_.name_of(out_.of(HookId::kCudaApi)[0]), "cuLaunchKernel");
}

TEST_P(CaptureTest, AnExternalIdReachesCallAndKernelInAnyOrderOfBuffers) {
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

}  // namespace
}  // namespace profshim::device
