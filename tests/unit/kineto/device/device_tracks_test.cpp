#include "device_fixture.h"

namespace profshim {
namespace {

using test::DeviceTest;
using test::kTid;
using test::kWall;
using test::Row;

TEST_F(DeviceTest, KernelHasKinetosArgsInKinetosOrder) {
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  device_->kernel(1200, 1300, "_Z4saxpIfEvPT_", 41);
  close();

  const auto kernels = of(rows(), "kernel");

  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "void saxp<float>(float*)");
  EXPECT_EQ(kernels[0].pid, 0);
  EXPECT_EQ(kernels[0].tid, 7);
  EXPECT_EQ(kernels[0].begin, 1200);
  EXPECT_EQ(kernels[0].end, 1300);
  EXPECT_EQ(kernels[0].keys,
            (std::vector<std::string>{"queued", "device", "context", "stream", "correlation", "registers per thread",
                                      "shared memory", "blocks per SM", "warps per SM", "grid", "block",
                                      "est. achieved occupancy %", "step"}));
  EXPECT_EQ(kernels[0].args.at("grid"), "[1776,1,1]");
  EXPECT_EQ(kernels[0].args.at("block"), "[256,1,1]");
  EXPECT_EQ(kernels[0].args.at("blocks per SM"), "12");  // as in a Kineto trace of a B200
  EXPECT_EQ(kernels[0].args.at("warps per SM"), "96");
  EXPECT_EQ(kernels[0].args.at("est. achieved occupancy %"), "100");
  EXPECT_EQ(kernels[0].args.at("step"), "5");
  EXPECT_NE(metadata_["deviceProperties"].find("\"numSms\":148"), std::string::npos) << metadata_["deviceProperties"];
}

TEST_F(DeviceTest, GraphLaunchAsOneActivityIsAKernelWithoutAShape) {
  device_->call(1100, 1150, "cudaGraphLaunch", 41, kTid);
  device_->other(HookId::kGraphRun, 2000, 2600, {.correlation = 41, .context = 1, .stream = 7, .graph = 5});
  close();

  const Row run = of(rows(), "kernel").at(0);

  EXPECT_EQ(run.name, "CUDA graph");
  EXPECT_EQ(run.args.at("grid"), "[0,0,0]");
  EXPECT_EQ(run.args.at("graph id"), "5");
  EXPECT_EQ(device_count("graphs_as_one"), 1);
}

TEST_F(DeviceTest, CopiesAreNamedByTheirKinds) {
  device_->call(1100, 1150, "cudaMemcpyAsync", 41, kTid);
  device_->copy(2000, 2100, 41, 1280);
  device_->call(1200, 1250, "cudaMemcpyPeerAsync", 42, kTid);
  Event peer = test::DeviceEvents::event(HookId::kMemcpyPeer, 2200, 2200);
  peer.flags = kContinues;
  peer.gpu = {.correlation = 42, .device = 1, .kind = 10 | 3 << 4 | 3 << 8, .context = 2, .stream = 13, .bytes = 99};
  device_->commit(peer);
  peer.hook = HookId::kContinuation;
  peer.flags = 0;
  peer.peer = {.from_device = 0, .to_device = 1, .from_context = 1, .to_context = 2};
  device_->commit(peer);
  close();

  const auto copies = of(rows(), "gpu_memcpy");

  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].name, "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copies[0].args.at("memory bandwidth (GB/s)"), "12.8");
  EXPECT_EQ(copies[1].name, "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(copies[1].pid, 1);
  EXPECT_EQ(copies[1].keys, (std::vector<std::string>{"fromDevice", "inDevice", "toDevice", "fromContext", "inContext",
                                                      "toContext", "stream", "correlation", "bytes", "step"}))
      << "a copy of no time has no bandwidth";
  EXPECT_EQ(copies[1].args.at("toContext"), "2");
}

TEST_F(DeviceTest, SynchronizationsHaveASeparateTrack) {
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  device_->kernel(1200, 1900, "k", 41);
  for (std::uint32_t i = 0; i < 4; ++i)
    device_->call(2000 + i * 100, 2090 + i * 100, "cudaStreamSynchronize", 50 + i, kTid);
  device_->call(2410, 2420, "cudaEventRecord", 45, kTid);
  const SyncArgs any{
      .correlation = 50, .kind = 3, .context = 1, .stream = 7, .event = kUnknownNumber, .record = kUnknownNumber};
  device_->sync(2010, 2080, any);
  SyncArgs wait = any;
  wait.correlation = 51;
  wait.kind = 2;
  wait.event = 9;
  wait.record = 45;
  wait.record_stream = 13;
  device_->sync(2110, 2110, wait);
  wait.stream = 99;  // has no device activity
  device_->sync(2111, 2111, wait);
  SyncArgs all_streams = any;
  all_streams.correlation = 52;
  all_streams.kind = 4;
  all_streams.stream = ~0u;
  device_->sync(2210, 2280, all_streams);
  all_streams.kind = 1;
  device_->sync(2250, 2290, all_streams);  // another thread waits too
  close();

  const auto all = rows();
  const auto syncs = of(all, "cuda_sync");

  ASSERT_EQ(syncs.size(), 4u);
  EXPECT_EQ(syncs[0].name, "Context Sync");
  EXPECT_EQ(syncs[0].args.at("stream"), "-1");
  EXPECT_EQ(syncs[1].name, "Event Sync");
  EXPECT_EQ(syncs[1].args.at("wait_on_stream"), "-1");
  EXPECT_EQ(syncs[1].args.at("wait_on_cuda_event_id"), "-1");
  EXPECT_NE(syncs[0].tid, syncs[1].tid);
  EXPECT_EQ(syncs[2].name, "Stream Sync");
  EXPECT_EQ(syncs[2].tid, 1000007);
  EXPECT_EQ(syncs[2].keys, (std::vector<std::string>{"cuda_sync_kind", "stream", "correlation", "device", "context"}));
  EXPECT_EQ(syncs[3].name, "Stream Wait Event");
  EXPECT_EQ(syncs[3].args.at("wait_on_cuda_event_record_corr_id"), "45");
  EXPECT_EQ(syncs[3].args.at("wait_on_stream"), "13");
}

TEST_F(DeviceTest, CallsPointToTheirSynchronizationsExceptThoseWithAnEvent) {
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  device_->kernel(1200, 1900, "k", 41);
  const auto sync = [this](std::uint32_t correlation, std::uint16_t kind, std::uint32_t stream) {
    const Ticks begin = 1000 + correlation * 20;
    device_->call(begin, begin + 10, "cudaStreamSynchronize", correlation, kTid);
    device_->sync(begin + 1, begin + 9, {.correlation = correlation, .kind = kind, .context = 1, .stream = stream});
  };
  sync(50, 1, ~0u);  // cudaEventSynchronize
  sync(51, 2, 7);    // cudaStreamWaitEvent
  sync(52, 2, 99);   // not shown: stream 99 has no device activity
  sync(53, 3, 7);
  sync(54, 4, ~0u);
  close();

  const auto all = rows();
  std::vector<std::int64_t> starts, ends;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].category != "ac2g") continue;
    (all[i].phase == "s" ? starts : ends).push_back(all[i].id);
    EXPECT_EQ(all[i].tid, all[i - 1].tid);
    EXPECT_EQ(all[i].begin, all[i - 1].begin);
  }

  EXPECT_EQ(starts, (std::vector<std::int64_t>{41, 51, 53, 54}));
  std::sort(ends.begin(), ends.end());
  EXPECT_EQ(ends, starts);
}

TEST_F(DeviceTest, ASynchronizationIsOnTheDeviceOfItsContext) {
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  device_->call(2000, 2090, "cudaStreamSynchronize", 50, kTid);
  device_->call(2100, 2190, "cudaStreamSynchronize", 51, kTid);
  const SyncArgs sync{.correlation = 50, .device = kUnknownDevice, .kind = 3, .context = 2, .stream = 7};
  device_->sync(2010, 2080, sync);
  device_->other(HookId::kMemset, 1200, 1900, {.correlation = 41, .device = 3, .context = 2, .stream = 7});
  SyncArgs nobody_knows = sync;
  nobody_knows.correlation = 51;
  nobody_knows.context = 9;
  device_->sync(2110, 2180, nobody_knows);
  close();

  const auto syncs = of(rows(), "cuda_sync");

  ASSERT_EQ(syncs.size(), 1u);
  EXPECT_EQ(syncs[0].pid, 3);
  EXPECT_EQ(syncs[0].args.at("device"), "3");
  EXPECT_NE(text_.find("\"syncs_without_device\": 1"), std::string::npos);
}

TEST_F(DeviceTest, OverheadsAndMemoryAreInTheJobsProcess) {
  device_->call(1100, 1150, "cudaMalloc", 41, kTid);
  device_->overhead(1200, 1300, 5);
  device_->overhead(9100, 9200, 1);
  device_->memory(1120, {.correlation = 41, .kind = 1, .bytes = 4096, .address = 0x7f0000, .memory_kind = 3});
  device_->memory(1130, {.kind = 2, .bytes = 4096, .address = 0x7f0000, .memory_kind = 2});
  close();

  const auto all = rows();

  const auto overheads = of(all, "overhead"), memory = of(all, "cpu_instant_event", "i");
  ASSERT_EQ(overheads.size(), 1u);
  EXPECT_EQ(overheads[0].name, "Lazy Function Loading");
  EXPECT_EQ(overheads[0].pid, recorder::header().pid);
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[0].name, "[memory]");
  EXPECT_EQ(memory[0].tid, kTid);
  EXPECT_EQ(memory[0].args.at("Bytes"), "4096");
  EXPECT_EQ(memory[0].args.at("Device Type"), "1");
  EXPECT_EQ(memory[1].args.at("Bytes"), "-4096");
  EXPECT_EQ(memory[1].args.at("Device Type"), "0");
}

TEST_F(DeviceTest, RangeSpansItsActivityOnEachStream) {
  const std::int32_t own = recorder::this_thread()->tid;
  const auto range = [](Ticks begin, Ticks end, const char* name, std::uint8_t flags = 0) {
    Event e = test::DeviceEvents::event(HookId::kNvtxRange, begin, end);
    e.name = recorder::intern(name);
    e.flags = flags;
    recorder::commit(*recorder::this_thread(), e);
  };
  range(1100, 2000, "outer");
  range(1200, 1300, "inner");
  range(1310, 1390, "empty");
  range(1100, 1900, "may end elsewhere", kStartEnd);
  range(1400, 1500, "next");
  device_->call(1110, 1120, "cudaLaunchKernel", 41, own);
  device_->call(1210, 1220, "cudaLaunchKernel", 42, own);
  device_->call(1230, 1240, "cudaLaunchKernel", 43, own);
  device_->call(1320, 1330, "cudaMalloc", 44, own);
  device_->call(1410, 1420, "cudaLaunchKernel", 45, own);
  device_->call(1430, 1440, "cudaLaunchKernel", 46, kTid);  // on another thread
  device_->kernel(3000, 3100, "a", 41);
  device_->kernel(3100, 3200, "b", 42);
  device_->kernel(3200, 3300, "c", 43);
  device_->kernel(3300, 3400, "d", 45);
  device_->kernel(5000, 5100, "e", 46);
  device_->copy(3150, 3160, 43, 64, 13);
  tolerated_ = {19};  // verify item 19 forbids a launch with two activities
  close();

  const auto all = rows();

  const auto spans = of(all, "gpu_user_annotation");
  std::vector<std::string> seen;
  for (const Row& r : spans) {
    seen.push_back(r.name + " " + std::to_string(r.tid) + " " + std::to_string(r.begin) + " " + std::to_string(r.end));
    EXPECT_EQ(r.pid, 0);
    EXPECT_EQ(r.keys, std::vector<std::string>{"External id"});
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"outer 7 3000 3400", "inner 7 3100 3300", "next 7 3300 3400",
                                            "outer 13 3150 3160", "inner 13 3150 3160"}));
  for (const Row& host : of(all, "user_annotation")) {
    const bool launched = host.name == "outer" || host.name == "inner" || host.name == "next";
    EXPECT_EQ(host.args.contains("External id"), launched) << host.name;
    for (const Row& span : spans) {
      if (span.name == host.name) {
        EXPECT_EQ(span.args.at("External id"), host.args.at("External id"));
      }
    }
  }
}

TEST_F(DeviceTest, RangesThatDoNotNestOnAStreamGetOverflowTracks) {
  Event mine = test::DeviceEvents::event(HookId::kNvtxRange, 1100, 1500);
  mine.name = recorder::intern("mine");
  recorder::commit(*recorder::this_thread(), mine);
  const std::int32_t own = recorder::this_thread()->tid;
  recorder::this_thread()->tid = kTid;
  for (int i = 0; i < 1100; ++i) recorder::commit(*recorder::this_thread(), Event{});
  Event theirs = test::DeviceEvents::event(HookId::kNvtxRange, 1100, 1500);
  theirs.name = recorder::intern("theirs");
  recorder::commit(*recorder::this_thread(), theirs);
  for (std::uint32_t i = 0; i < 4; ++i) {
    device_->call(1110 + i * 10, 1115 + i * 10, "cudaLaunchKernel", 41 + i, i % 2 == 0 ? own : kTid);
    device_->kernel(3000 + i * 10, 3010 + i * 10, "k", 41 + i);
  }
  close();

  const auto all = rows();

  const auto spans = of(all, "gpu_user_annotation");
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].name, "mine");
  EXPECT_EQ(spans[0].tid, 7);
  EXPECT_EQ(spans[1].name, "theirs");
  EXPECT_NE(spans[1].tid, 7);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Row& r) {
    return r.name == "thread_name" && r.pid == 0 && r.tid == spans[1].tid;
  }));
}

TEST_F(DeviceTest, StepsAreNotRepeatedOnTheDevice) {
  Event range = test::DeviceEvents::event(HookId::kNvtxRange, 1100, 1500);
  range.name = recorder::intern("ProfilerStep#5");
  recorder::commit(*recorder::this_thread(), range);
  device_->call(1110, 1115, "cudaLaunchKernel", 41, recorder::this_thread()->tid);
  device_->kernel(3000, 3010, "k", 41);
  tolerated_ = {25};  // verify item 25 forbids two host steps of one name
  close();

  EXPECT_EQ(of(rows(), "gpu_user_annotation").size(), 0u);
}

// CUPTI may deliver a stream's record after the records of its kernels.
TEST_F(DeviceTest, KernelHasThePriorityOfAStreamReportedLater) {
  device_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  device_->kernel(1200, 1300, "k", 41);
  device_->call(1300, 1350, "cudaLaunchKernel", 42, kTid);
  device_->kernel(1400, 1500, "on another stream", 42, 8);
  recorder::define(spool::DefinitionKind::kStream, 7, 0, 0, {0, 1, -3, 0});
  close();

  const auto kernels = of(rows(), "kernel");

  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].args.at("priority"), "-3");
  EXPECT_FALSE(kernels[1].args.contains("priority"));
}

}  // namespace
}  // namespace profshim
