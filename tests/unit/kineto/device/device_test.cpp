#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "device_fixture.h"
#include "kineto/device/launch_index.h"
#include "kineto/device/names.h"
#include "profshim/analysis.h"
#include "profshim/trace.h"
#include "unit/spool_fixture.h"
#include "unit/trace/sample_trace.h"

namespace profshim {
namespace {

// Ticks are nanoseconds here, and the wall clock is the monotonic one plus this.
constexpr std::int64_t kWall = 7889238'000'000'000 * 220;
constexpr std::int32_t kTid = 5151;

struct Row {
  std::string phase, category, name;
  std::int64_t pid = 0, tid = 0, begin = 0, end = 0, id = 0;
  std::vector<std::string> keys;  // of the args, in order
  std::map<std::string, std::string> args;
};

class DeviceTest : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(64);
    recorder::tend_pool([] { return Ticks{1}; }, 64);
    recorder::add_anchor({1, 1, kWall + 1});
    spool::SpoolHeader& h = recorder::header();
    h.base_time_ns = kWall;
    h.rank = 0;
    h.world_size = 1;
    h.program = recorder::intern("train");
    h.step_tid = kTid;
    test::DeviceLane::define_device();
    lane_ = std::make_unique<test::DeviceLane>();
    window_ = recorder::open_window(1000, recorder::add_mark({1000, 5, 5}));
  }

  void close(Ticks end = 9000) {
    window_->complete = 1;
    recorder::close_window(*window_, end, recorder::add_mark({end, 6, 6}), spool::WindowEnd::kSchedule, 0);
  }

  /// The whole trace of a window, which always is what readers take.
  std::vector<Row> rows(std::uint64_t number = 0) {
    const auto v = view();
    kineto::WindowTraceBuilder builder(*v, number, {.trace_name = "/run/rank0.5.pt.trace.json"});
    text_.clear();
    test::MemorySink sink(text_);
    EXPECT_TRUE(builder.write(sink, {}));
    summary_ = builder.summary();
    std::vector<Row> all;
    TraceVisitor visitor;
    visitor.metadata = [this](std::string_view key, std::string_view json, bool) {
      metadata_[std::string(key)] = json;
    };
    visitor.event = [&all](const ReadEvent& e) {
      Row r{.phase = std::string(e.phase),
            .category = std::string(e.category),
            .name = std::string(e.name),
            .pid = e.pid,
            .tid = e.tid,
            .begin = e.ts_ns,
            .end = e.ts_ns + e.duration_ns,
            .id = e.id};
      for (const auto& arg : e.args) {
        r.keys.emplace_back(arg.key);
        r.args[r.keys.back()] = arg.text.empty() ? std::to_string(arg.integer) : std::string(arg.text);
      }
      all.push_back(std::move(r));
      return true;
    };
    const ReadResult read = read_trace_bytes(text_, visitor);
    EXPECT_TRUE(read.ok) << read.error;
    const FileReport report = verify_trace_bytes(text_, "rank0.5.pt.trace.json");
    for (const Finding& f : report.findings) {
      EXPECT_FALSE(f.must && !tolerated_.contains(f.item)) << f.item << ' ' << f.message;
    }
    return all;
  }

  static std::vector<Row> of(const std::vector<Row>& all, std::string_view category, std::string_view phase = "X") {
    std::vector<Row> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const Row& r) { return r.category == category && r.phase == phase; });
    return found;
  }

  std::int64_t device_count(std::string_view key) {
    std::int64_t value = -1;
    json_leaves(metadata_["profshim"], [&](std::string_view path, const ReadEvent::ReadArg& v) {
      if (path == "device." + std::string(key)) value = v.integer;
    });
    return value;
  }

  std::unique_ptr<test::DeviceLane> lane_;
  spool::Window* window_ = nullptr;
  std::map<std::string, std::string> metadata_;
  std::string text_;
  kineto::WindowSummary summary_;
  std::set<int> tolerated_;  // findings that a test provokes
};

TEST_F(DeviceTest, AKernelHasKinetosArgsInKinetosOrder) {
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  lane_->kernel(1200, 1300, "_Z4saxpIfEvPT_", 41);
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
  EXPECT_EQ(kernels[0].args.at("blocks per SM"), "12");  // as Kineto's trace of a B200 has it
  EXPECT_EQ(kernels[0].args.at("warps per SM"), "96");
  EXPECT_EQ(kernels[0].args.at("est. achieved occupancy %"), "100");
  EXPECT_EQ(kernels[0].args.at("step"), "5");
  EXPECT_NE(metadata_["deviceProperties"].find("\"numSms\":148"), std::string::npos) << metadata_["deviceProperties"];
}

// As Kineto joins them: the innermost operator, its calls and their kernels have one number.
TEST_F(DeviceTest, AKernelHasTheNumberOfTheOperatorThatLaunchedIt) {
  const auto tid = static_cast<std::int32_t>(gettid());
  spool::Thread& thread = *recorder::this_thread();
  const auto op = [&](Ticks begin, Ticks end, const char* name) {
    Event e = test::DeviceLane::event(HookId::kTorchOperator, begin, end);
    e.name = recorder::intern(name);
    e.torch.sequence = kNoSequence;
    recorder::commit(thread, e);
  };
  op(1110, 1190, "aten::addmm");
  op(1100, 1200, "aten::linear");
  op(1300, 1400, "aten::relu");
  lane_->call(1120, 1130, "cudaLaunchKernel", 41, tid);
  lane_->kernel(2000, 2100, "gemm", 41);
  lane_->call(1195, 1198, "cudaLaunchKernel", 42, tid);
  lane_->kernel(2100, 2200, "copy", 42);
  lane_->call(1250, 1260, "cudaLaunchKernel", 43, tid);
  lane_->kernel(2200, 2300, "nobodys", 43);
  close();

  const auto all = rows();

  std::map<std::string, std::string> id;
  for (const Row& r : all) {
    if (r.phase == "X" && r.args.contains("External id")) id[r.name] += r.args.at("External id") + " ";
  }
  EXPECT_NE(id.at("aten::linear"), id.at("aten::addmm"));
  EXPECT_EQ(id.at("gemm"), id.at("aten::addmm"));
  EXPECT_EQ(id.at("copy"), id.at("aten::linear"));
  EXPECT_FALSE(id.contains("nobodys"));
  EXPECT_EQ(id.at("cudaLaunchKernel"), id.at("gemm") + id.at("copy"));
}

TEST_F(DeviceTest, ALaunchNestsInTheRangesOfItsThreadAndPointsToItsWork) {
  Event range = test::DeviceLane::event(HookId::kNvtxRange, 1050, 1400);
  range.name = recorder::intern("forward");
  recorder::commit(*recorder::this_thread(), range);
  const std::int32_t own = recorder::this_thread()->tid;
  lane_->kernel(1500, 1600, "k", 41);  // delivered before its launch
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, own);
  close();

  const auto all = rows();

  const auto at = std::find_if(all.begin(), all.end(), [](const Row& r) { return r.category == "cuda_runtime"; });
  ASSERT_NE(at, all.end());
  EXPECT_EQ(at->tid, own);
  EXPECT_EQ(at->keys, (std::vector<std::string>{"cbid", "correlation"}));
  EXPECT_EQ((at - 1)->name, "forward");
  EXPECT_EQ((at - 1)->tid, own);
  // The flow stands directly behind its slice, at the same place and time; so does its end.
  const Row& start = *(at + 1);
  EXPECT_EQ(start.phase, "s");
  EXPECT_EQ(start.id, 41);
  EXPECT_EQ(start.begin, at->begin);
  EXPECT_EQ(start.tid, at->tid);
  const auto kernel = std::find_if(all.begin(), all.end(), [](const Row& r) { return r.category == "kernel"; });
  EXPECT_EQ((kernel + 1)->phase, "f");
  EXPECT_EQ((kernel + 1)->id, 41);
  EXPECT_EQ((kernel + 1)->begin, kernel->begin);
  EXPECT_EQ((kernel + 1)->pid, 0);
  EXPECT_NE(text_.find("\"bp\":\"e\""), std::string::npos);
}

TEST_F(DeviceTest, WorkBelongsToTheWindowOfItsLaunch) {
  lane_->call(900, 950, "cudaLaunchKernel", 40, kTid);
  lane_->kernel(1100, 1200, "launched before", 40);
  lane_->call(8900, 8950, "cudaLaunchKernel", 41, kTid);
  lane_->kernel(9500, 9900, "ends after the window", 41);
  lane_->call(9100, 9150, "cudaLaunchKernel", 42, kTid);
  lane_->kernel(9900, 9950, "launched after", 42);
  close();

  const auto kernels = of(rows(), "kernel");

  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "ends after the window");
  EXPECT_EQ(device_count("kernels"), 1);
  EXPECT_EQ(device_count("device_orphans"), 0);
}

TEST_F(DeviceTest, AnOrphanIsTakenByItsBeginAndCountedAndHasNoFlow) {
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  lane_->kernel(1200, 1250, "known", 41);
  lane_->kernel(2000, 2100, "orphan", 50);
  lane_->kernel(990, 2200, "began before", 51);
  lane_->kernel(9000, 9100, "began after", 52);
  lane_->kernel(3000, 3100, "launched before the window", 12);
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "kernel").size(), 2u);
  EXPECT_EQ(of(all, "ac2g", "s").size(), 1u);
  EXPECT_EQ(of(all, "ac2g", "f").size(), 1u);
  EXPECT_EQ(device_count("device_orphans"), 1);
}

TEST_F(DeviceTest, ImpossibleTimesAreLeftOutAndCountedByReason) {
  constexpr Ticks kSecond = 1'000'000'000;
  for (std::uint32_t i = 41; i < 47; ++i) lane_->call(1000 + i, 1000 + i, "cudaLaunchKernel", i, kTid);
  lane_->kernel(0, 0, "zero", 41);
  lane_->kernel(2000, 0, "no end", 42);
  lane_->kernel(2000, 1999, "reversed", 43);
  lane_->kernel(2000, 100'000 * kSecond, "endless", 44);
  lane_->kernel(100'000 * kSecond, 100'001 * kSecond, "far", 45);
  lane_->kernel(2000, 2010, "possible", 46);
  lane_->call(3000, 2000, "cudaMalloc", 60, kTid);
  close();

  const auto all = rows();

  ASSERT_EQ(of(all, "kernel").size(), 1u);
  EXPECT_EQ(of(all, "kernel")[0].name, "possible");
  EXPECT_EQ(of(all, "ac2g", "s").size(), 1u) << "a flow starts without an end";
  EXPECT_EQ(device_count("impossible_times.zero"), 2);
  EXPECT_EQ(device_count("impossible_times.reversed"), 2);
  EXPECT_EQ(device_count("impossible_times.outside"), 2);
  EXPECT_EQ(of(all, "cuda_runtime").size(), 6u);
}

TEST_F(DeviceTest, OneCallPerCorrelationAndTheRuntimesWins) {
  lane_->call(1110, 1140, "cuLaunchKernel", 41, kTid);
  lane_->call(1100, 1150, "cudaLaunchKernel_v7000", 41, kTid);
  lane_->call(1200, 1250, "__cudaLaunchKernel_v13000", 42, kTid);
  lane_->call(1210, 1240, "cuLaunchKernelEx", 42, kTid);
  lane_->call(1300, 1350, "cuLaunchKernelEx_ptsz", 43, kTid);
  for (std::uint32_t i = 41; i < 44; ++i) lane_->kernel(1000 + i * 10, 1005 + i * 10, "k", i);
  close();

  const auto all = rows();

  const auto runtime = of(all, "cuda_runtime"), driver = of(all, "cuda_driver");
  ASSERT_EQ(runtime.size(), 2u);
  EXPECT_EQ(runtime[0].name, "cudaLaunchKernel");
  EXPECT_EQ(runtime[1].name, "cudaLaunchKernel");
  ASSERT_EQ(driver.size(), 1u);
  EXPECT_EQ(driver[0].name, "cuLaunchKernelEx");
  EXPECT_EQ(of(all, "ac2g", "s").size(), 3u);
}

TEST_F(DeviceTest, AGraphLaunchHasOneStartAndManyEnds) {
  lane_->call(1100, 1150, "cudaGraphLaunch", 41, kTid);
  for (int i = 0; i < 3; ++i) lane_->kernel(2000 + i * 10, 2005 + i * 10, "node", 41);
  lane_->other(HookId::kMemset, 2050, 2060,
               {.correlation = 41, .kind = 3, .context = 1, .stream = 7, .bytes = 640, .graph_node = 77, .graph = 5});
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "ac2g", "s").size(), 1u);
  EXPECT_EQ(of(all, "ac2g", "f").size(), 4u);
  const Row set = of(all, "gpu_memset").at(0);
  EXPECT_EQ(set.name, "Memset (Device)");
  EXPECT_EQ(set.keys, (std::vector<std::string>{"device", "context", "stream", "correlation", "bytes",
                                                "memory bandwidth (GB/s)", "graph id", "graph node id", "step"}));
  EXPECT_EQ(set.args.at("memory bandwidth (GB/s)"), "64");
  EXPECT_EQ(set.args.at("graph id"), "5");
}

TEST_F(DeviceTest, AGraphAsOnePieceOfWorkIsAKernelWithoutAShape) {
  lane_->call(1100, 1150, "cudaGraphLaunch", 41, kTid);
  lane_->other(HookId::kGraphRun, 2000, 2600, {.correlation = 41, .context = 1, .stream = 7, .graph = 5});
  close();

  const Row run = of(rows(), "kernel").at(0);

  EXPECT_EQ(run.name, "CUDA graph");
  EXPECT_EQ(run.args.at("grid"), "[0,0,0]");
  EXPECT_EQ(run.args.at("graph id"), "5");
  EXPECT_EQ(device_count("graphs_as_one"), 1);
}

TEST_F(DeviceTest, CopiesAreNamedByTheirKinds) {
  lane_->call(1100, 1150, "cudaMemcpyAsync", 41, kTid);
  lane_->copy(2000, 2100, 41, 1280);
  lane_->call(1200, 1250, "cudaMemcpyPeerAsync", 42, kTid);
  Event peer = test::DeviceLane::event(HookId::kMemcpyPeer, 2200, 2200);
  peer.flags = kContinues;
  peer.gpu = {.correlation = 42, .device = 1, .kind = 10 | 3 << 4 | 3 << 8, .context = 2, .stream = 13, .bytes = 99};
  lane_->commit(peer);
  peer.hook = HookId::kContinuation;
  peer.flags = 0;
  peer.peer = {.from_device = 0, .to_device = 1, .from_context = 1, .to_context = 2};
  lane_->commit(peer);
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

TEST_F(DeviceTest, SynchronisationsHaveALineOfTheirOwn) {
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  lane_->kernel(1200, 1900, "k", 41);
  for (std::uint32_t i = 0; i < 4; ++i)
    lane_->call(2000 + i * 100, 2090 + i * 100, "cudaStreamSynchronize", 50 + i, kTid);
  lane_->call(2410, 2420, "cudaEventRecord", 45, kTid);
  const GpuArgs any{.correlation = 50, .kind = 3, .context = 1, .stream = 7, .bytes = ~0ull, .graph_node = ~0ull};
  lane_->other(HookId::kCudaSync, 2010, 2080, any);
  GpuArgs wait = any;
  wait.correlation = 51;
  wait.kind = 2;
  wait.bytes = 9;
  wait.graph_node = 45;
  wait.external = 13;
  lane_->other(HookId::kCudaSync, 2110, 2110, wait);
  wait.stream = 99;  // a stream without work
  lane_->other(HookId::kCudaSync, 2111, 2111, wait);
  GpuArgs all_streams = any;
  all_streams.correlation = 52;
  all_streams.kind = 4;
  all_streams.stream = ~0u;
  lane_->other(HookId::kCudaSync, 2210, 2280, all_streams);
  all_streams.kind = 1;
  lane_->other(HookId::kCudaSync, 2250, 2290, all_streams);  // of another thread, at the same time
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

// As Kineto's, and no arrow has one end only.
TEST_F(DeviceTest, CallsPointToTheirSynchronisationsButThoseForAnEvent) {
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  lane_->kernel(1200, 1900, "k", 41);
  const auto sync = [this](std::uint32_t correlation, std::uint16_t kind, std::uint32_t stream) {
    const Ticks begin = 1000 + correlation * 20;
    lane_->call(begin, begin + 10, "cudaStreamSynchronize", correlation, kTid);
    lane_->other(HookId::kCudaSync, begin + 1, begin + 9,
                 {.correlation = correlation, .kind = kind, .context = 1, .stream = stream});
  };
  sync(50, 1, ~0u);  // for an event
  sync(51, 2, 7);    // of a stream
  sync(52, 2, 99);   // of a stream without work: not shown
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

TEST_F(DeviceTest, ASynchronisationIsOnTheDeviceOfItsContext) {
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  lane_->call(2000, 2090, "cudaStreamSynchronize", 50, kTid);
  lane_->call(2100, 2190, "cudaStreamSynchronize", 51, kTid);
  const GpuArgs sync{.correlation = 50, .device = kUnknownDevice, .kind = 3, .context = 2, .stream = 7};
  lane_->other(HookId::kCudaSync, 2010, 2080, sync);
  lane_->other(HookId::kMemset, 1200, 1900, {.correlation = 41, .device = 3, .context = 2, .stream = 7});
  GpuArgs nobody_knows = sync;
  nobody_knows.correlation = 51;
  nobody_knows.context = 9;
  lane_->other(HookId::kCudaSync, 2110, 2180, nobody_knows);
  close();

  const auto syncs = of(rows(), "cuda_sync");

  ASSERT_EQ(syncs.size(), 1u);
  EXPECT_EQ(syncs[0].pid, 3);
  EXPECT_EQ(syncs[0].args.at("device"), "3");
  EXPECT_NE(text_.find("\"syncs_without_device\": 1"), std::string::npos);
}

TEST_F(DeviceTest, OverheadsAndMemoryLieInTheProcess) {
  lane_->call(1100, 1150, "cudaMalloc", 41, kTid);
  lane_->other(HookId::kCudaOverhead, 1200, 1300, {.kind = 5});
  lane_->other(HookId::kCudaOverhead, 9100, 9200, {.kind = 1});
  lane_->other(HookId::kCudaMemory, 1120, 1120,
               {.correlation = 41, .kind = 1, .bytes = 4096, .graph_node = 0x7f0000, .external = 3});
  lane_->other(HookId::kCudaMemory, 1130, 1130, {.kind = 2, .bytes = 4096, .graph_node = 0x7f0000, .external = 2});
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

TEST_F(DeviceTest, ARangeSpansOnEachStreamWhatWasLaunchedInIt) {
  const std::int32_t own = recorder::this_thread()->tid;
  const auto range = [](Ticks begin, Ticks end, const char* name, std::uint8_t flags = 0) {
    Event e = test::DeviceLane::event(HookId::kNvtxRange, begin, end);
    e.name = recorder::intern(name);
    e.flags = flags;
    recorder::commit(*recorder::this_thread(), e);
  };
  range(1100, 2000, "outer");
  range(1200, 1300, "inner");
  range(1310, 1390, "empty");
  range(1100, 1900, "may end elsewhere", kStartEnd);
  range(1400, 1500, "next");
  lane_->call(1110, 1120, "cudaLaunchKernel", 41, own);
  lane_->call(1210, 1220, "cudaLaunchKernel", 42, own);
  lane_->call(1230, 1240, "cudaLaunchKernel", 43, own);
  lane_->call(1320, 1330, "cudaMalloc", 44, own);
  lane_->call(1410, 1420, "cudaLaunchKernel", 45, own);
  lane_->call(1430, 1440, "cudaLaunchKernel", 46, kTid);  // another thread's
  lane_->kernel(3000, 3100, "a", 41);
  lane_->kernel(3100, 3200, "b", 42);
  lane_->kernel(3200, 3300, "c", 43);
  lane_->kernel(3300, 3400, "d", 45);
  lane_->kernel(5000, 5100, "e", 46);
  lane_->copy(3150, 3160, 43, 64, 13);
  tolerated_ = {19};  // a launch with a kernel and a copy
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

TEST_F(DeviceTest, RangesOfTwoThreadsThatDoNotNestOnAStreamHaveLines) {
  Event mine = test::DeviceLane::event(HookId::kNvtxRange, 1100, 1500);
  mine.name = recorder::intern("mine");
  recorder::commit(*recorder::this_thread(), mine);
  const std::int32_t own = recorder::this_thread()->tid;
  recorder::this_thread()->tid = kTid;
  for (int i = 0; i < 1100; ++i) recorder::commit(*recorder::this_thread(), Event{});  // into a chunk of its own
  Event theirs = test::DeviceLane::event(HookId::kNvtxRange, 1100, 1500);
  theirs.name = recorder::intern("theirs");
  recorder::commit(*recorder::this_thread(), theirs);
  for (std::uint32_t i = 0; i < 4; ++i) {
    lane_->call(1110 + i * 10, 1115 + i * 10, "cudaLaunchKernel", 41 + i, i % 2 == 0 ? own : kTid);
    lane_->kernel(3000 + i * 10, 3010 + i * 10, "k", 41 + i);
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
  Event range = test::DeviceLane::event(HookId::kNvtxRange, 1100, 1500);
  range.name = recorder::intern("ProfilerStep#5");
  recorder::commit(*recorder::this_thread(), range);
  lane_->call(1110, 1115, "cudaLaunchKernel", 41, recorder::this_thread()->tid);
  lane_->kernel(3000, 3010, "k", 41);
  tolerated_ = {25};  // two steps of that name on the host
  close();

  EXPECT_EQ(of(rows(), "gpu_user_annotation").size(), 0u);
}

TEST_F(DeviceTest, AThreadThatCouldNotBeFoundHasALabelledLine) {
  lane_->call(1100, 1150, "cudaEventQuery", 41, 0);
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "cuda_runtime").at(0).tid, 0xe0001740);
  const auto named =
      std::find_if(all.begin(), all.end(), [](const Row& r) { return r.name == "thread_name" && r.tid == 0xe0001740; });
  ASSERT_NE(named, all.end());
  EXPECT_EQ(named->args.at("name"), "thread 3758102336 (CUPTI's number, tid not known)");
}

TEST_F(DeviceTest, ACallThatDidNotEndIsShownUntilTheWindowEnds) {
  lane_->call(1100, 0, "cudaDeviceSynchronize", 41, kTid);
  close();

  const Row call = of(rows(), "cuda_runtime").at(0);

  EXPECT_EQ(call.end, 9000);
  EXPECT_EQ(call.args.at("finished"), "false");
}

TEST_F(DeviceTest, KernelsThatOverlapStayOnTheirStreamAndAreCounted) {
  for (std::uint32_t i = 41; i < 44; ++i) lane_->call(1000 + i, 1000 + i, "cudaLaunchKernel", i, kTid);
  lane_->kernel(2000, 2100, "a", 41);
  lane_->kernel(2090, 2200, "b", 42);  // programmatic dependent launch
  lane_->kernel(2200, 2300, "c", 43);
  close();

  const auto kernels = of(rows(), "kernel");

  ASSERT_EQ(kernels.size(), 3u);
  for (const Row& k : kernels) EXPECT_EQ(k.tid, 7);
  EXPECT_EQ(kernels[1].begin, 2090);
  EXPECT_EQ(device_count("device_overlaps"), 1);
}

TEST_F(DeviceTest, DevicesAndStreamsAreNamed) {
  recorder::define(spool::DefinitionKind::kStream, 7, recorder::intern("compute"), 0, {0, 1});
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  lane_->kernel(1200, 1300, "k", 41);
  close();

  std::set<std::string> names;
  for (const Row& r : rows()) {
    if (r.phase == "M" && r.pid == 0) names.insert(r.name + " " + r.args.begin()->second);
  }

  EXPECT_EQ(names, (std::set<std::string>{"process_name train", "process_labels GPU 0", "process_sort_index 5000000",
                                          "thread_name stream 7 (compute)", "thread_sort_index 7"}));
}

// The buffer of the thread that made the stream may come after that of the device.
TEST_F(DeviceTest, AKernelHasThePriorityOfAStreamThatIsToldOfLater) {
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  lane_->kernel(1200, 1300, "k", 41);
  lane_->call(1300, 1350, "cudaLaunchKernel", 42, kTid);
  lane_->kernel(1400, 1500, "on another stream", 42, 8);
  recorder::define(spool::DefinitionKind::kStream, 7, 0, 0, {0, 1, -3, 0});
  close();

  const auto kernels = of(rows(), "kernel");

  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].args.at("priority"), "-3");
  EXPECT_FALSE(kernels[1].args.contains("priority"));
}

TEST_F(DeviceTest, LossesOfTheLaneAreSaid) {
  lane_->call(1100, 1150, "cudaLaunchKernel", 41, kTid);
  for (int i = 0; i < 64 * 1100; ++i) lane_->copy(2000, 2001, 41, 1);
  tolerated_ = {19};  // one call, many copies
  close();
  rows();

  EXPECT_GT(device_count("lost_in_process"), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(device_count("lost_in_process")), summary_.dropped);
}

TEST_F(DeviceTest, WorkAloneIsWorthAFile) {
  lane_->kernel(1200, 1300, "k", 41);
  recorder::close_window(*window_, 9000, 1, spool::WindowEnd::kExit, 0);
  const auto v = view();

  EXPECT_FALSE(kineto::WindowTraceBuilder(*v, 0, {}).empty());
}

TEST_F(DeviceTest, AJobWithoutDeviceLaneHasNoCountsOfIt) {
  close();
  rows();

  EXPECT_EQ(device_count("kernels"), -1);
}

TEST_F(DeviceTest, ManyRecordsOutOfOrder) {
  constexpr std::uint32_t kPairs = 15000;
  // Records come in buffers of one kind, out of order.
  for (std::uint32_t i = kPairs; i-- > 0;) lane_->kernel(2000 + i * 10, 2008 + i * 10, "k", 100 + i, 7 + i % 3);
  for (std::uint32_t i = 0; i < kPairs; ++i)
    lane_->call(1000 + i / 10, 1000 + i / 10, "cudaLaunchKernel", 100 + i, kTid);
  close();

  const auto all = rows();

  EXPECT_EQ(of(all, "kernel").size(), kPairs);
  EXPECT_EQ(of(all, "ac2g", "s").size(), kPairs);
  EXPECT_EQ(of(all, "ac2g", "f").size(), kPairs);
  EXPECT_EQ(device_count("device_orphans"), 0);
}

// ---- NCCL

class NcclDeviceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    recorder::define(spool::DefinitionKind::kCommunicator, 1, recorder::intern("default_pg"),
                     recorder::intern("[0, 1]"),
                     {0xabcd, 2, 0, 0, static_cast<std::int64_t>(spool::CommunicatorBackend::kNccl), 0});
  }

  void operation(Ticks begin, Ticks end, HookId hook, std::uint32_t id) {
    Event e = test::DeviceLane::event(hook, begin, end);
    e.nccl = {.count = 1000, .comm = 1, .sequence = 1, .peer = kNone32, .operation = id, .datatype = 7, .bytes = 4000};
    recorder::commit(*recorder::this_thread(), e);
  }

  void launch(Ticks at, std::uint32_t correlation, std::uint32_t operation, const char* kernel) {
    Event e = test::DeviceLane::event(HookId::kCudaApi, at, at + 10);
    e.name = recorder::intern("cuLaunchKernelEx");
    e.api = {
        .correlation = correlation, .callback_id = 652, .tid = recorder::this_thread()->tid, .external = operation};
    lane_->commit(e);
    lane_->kernel(at + 100, at + 1100, kernel, correlation);
  }
};

TEST_F(NcclDeviceTest, AKernelCarriesWhatItsCollectiveWas) {
  operation(1100, 1200, HookId::ncclAllReduce, 9);
  launch(1150, 41, 9, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  close();

  const auto all = rows();

  const auto op = std::find_if(all.begin(), all.end(), [](const Row& r) { return r.name == "record_param_comms"; });
  ASSERT_NE(op, all.end());
  const Row kernel = of(all, "kernel").at(0), call = of(all, "cuda_driver").at(0);
  EXPECT_EQ(kernel.keys.front(), "External id");
  EXPECT_EQ(kernel.args.at("External id"), op->args.at("External id"));
  EXPECT_EQ(call.args.at("External id"), op->args.at("External id"));
  EXPECT_EQ(kernel.args.at("Collective name"), "allreduce");
  EXPECT_EQ(kernel.args.at("In msg nelems"), "1000");
  EXPECT_EQ(kernel.args.at("Group size"), "2");
  EXPECT_EQ(kernel.args.at("dtype"), "Float");
  EXPECT_EQ(kernel.args.at("Process Group Ranks"), "[0, 1]");
  EXPECT_NE(metadata_["distributedInfo"].find("\"backend\":\"nccl\""), std::string::npos);
}

TEST_F(NcclDeviceTest, TheKernelOfACommunicatorOfOneRankDoesToo) {
  operation(1100, 1200, HookId::ncclAllReduce, 9);
  launch(1150, 41, 9, "_ZN64_GLOBAL__N__13oneRankReduceI13FuncPreMulSumIfEEEvPvS3_mmb");
  close();

  EXPECT_EQ(of(rows(), "kernel").at(0).args.at("Collective name"), "allreduce");
}

TEST_F(NcclDeviceTest, TheVersionStandsWhereTheBackendIsNccl) {
  recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern("nccl_version"), recorder::intern("\"2.21.5\""));
  close();
  rows();
  EXPECT_NE(metadata_["distributedInfo"].find("\"nccl_version\":\"2.21.5\""), std::string::npos)
      << metadata_["distributedInfo"];
  EXPECT_EQ(metadata_["profshim"].find("nccl_version"), std::string::npos);
}

TEST_F(DeviceTest, TheVersionOfAnNcclThatWasNotUsedIsAFactOfOurs) {
  recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern("nccl_version"), recorder::intern("\"2.21.5\""));
  close();
  rows();
  EXPECT_EQ(metadata_["distributedInfo"].find("nccl_version"), std::string::npos);
  EXPECT_NE(metadata_["profshim"].find("nccl_version"), std::string::npos);
}

TEST_F(NcclDeviceTest, AFusedKernelOfAGroupBelongsToNoneOfThem) {
  operation(1100, 1110, HookId::ncclAllReduce, 9);
  operation(1120, 1130, HookId::ncclAllReduce, 9);
  operation(1140, 1150, HookId::ncclBroadcast, 9);
  launch(1200, 41, 9, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  launch(2400, 42, 9, "ncclDevKernel_Broadcast_RING_LL");
  close();

  const auto all = rows();

  std::set<std::string> ids;
  for (const Row& r : all) {
    if (r.name == "record_param_comms") ids.insert(r.args.at("External id"));
  }
  EXPECT_EQ(ids.size(), 3u);
  const auto kernels = of(all, "kernel");
  EXPECT_EQ(kernels.at(0).args.count("External id"), 0u);
  EXPECT_EQ(kernels.at(0).args.count("Collective name"), 0u);
  EXPECT_EQ(kernels.at(1).args.at("Collective name"), "broadcast");
}

TEST_F(NcclDeviceTest, WorkOfAnOperationBeforeTheWindowHasNoId) {
  operation(900, 1200, HookId::ncclAllReduce, 9);
  launch(1150, 41, 9, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  close();

  EXPECT_EQ(of(rows(), "kernel").at(0).args.count("External id"), 0u);
}

TEST(DeviceNames, ApiNamesLoseTheSuffixesOfCupti) {
  EXPECT_EQ(spool::plain_api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(spool::plain_api_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(spool::plain_api_name("__cudaLaunchKernel_v13000"), "cudaLaunchKernel");
  EXPECT_EQ(spool::plain_api_name("cudaStreamGetCaptureInfo_v2"), "cudaStreamGetCaptureInfo_v2");
  EXPECT_EQ(spool::plain_api_name("cuLaunchKernelEx"), "cuLaunchKernelEx");
  EXPECT_EQ(spool::plain_api_name("1234"), "1234");
  EXPECT_EQ(spool::plain_api_name(""), "");
}

TEST(DeviceNames, WhatIsNoMangledNameStays) {
  EXPECT_EQ(spool::demangled("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(spool::demangled("_Znot a name"), "_Znot a name");
  const std::string too_long = "_Z" + std::string(5000, 'f');
  EXPECT_EQ(spool::demangled(too_long), too_long);
  // f(A<int, int>, A<S0_, S0_>, A<S1_, S1_>, ...): each parameter is twice as long as the one before it.
  std::string gigabytes = "_Z1f1AIiiE";
  for (const char i : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUV")) {
    const std::string before = std::string("S") + i + "_";
    gigabytes += "S_I" + before + before + "E";
  }
  EXPECT_EQ(spool::demangled(gigabytes), gigabytes);
}

TEST(DeviceNames, KindsOfCupti) {
  EXPECT_EQ(spool::copy_kind_name(8), "DtoD");
  EXPECT_EQ(spool::copy_kind_name(15), "<unknown>");
  EXPECT_EQ(spool::memory_kind_name(6), "Device Static");
  EXPECT_EQ(spool::memory_kind_name(9), "Unrecognized");
  EXPECT_EQ(spool::sync_kind_name(77), "Unknown Sync");
  EXPECT_EQ(spool::overhead_kind_name(1), "Buffer Flush");
  EXPECT_EQ(spool::overhead_kind_name(99), "Unrecognized");
}

}  // namespace
}  // namespace profshim
