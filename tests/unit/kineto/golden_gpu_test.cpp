// `make golden` rewrites tests/golden/gpu.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "profshim/analysis.h"
#include "profshim/hooks/ids.h"
#include "profshim/window_trace.h"
#include "unit/kineto/device/device_events.h"
#include "unit/spool_fixture.h"
#include "unit/trace/sample_trace.h"

namespace profshim {
namespace {

constexpr char kPath[] = PROFSHIM_SOURCE_DIR "/tests/golden/gpu/rank1.5.pt.trace.json";
constexpr std::int64_t kWall = 7889238'000'000'000 * 220;
constexpr std::int32_t kPid = 4700, kOtherThread = 4711;
constexpr Ticks kUs = 1000;

class GoldenGpu : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(16);
    recorder::add_anchor({1, 1, kWall + 1});
    spool::SpoolHeader& h = recorder::header();
    h.pid = kPid;
    h.rank = 1;
    h.world_size = 2;
    h.base_time_ns = kWall;
    h.host = recorder::intern("node0");
    h.program = recorder::intern("train");
    h.command = recorder::intern("./train --epochs 1");
    h.step_source = recorder::intern("nvtx");
    h.step_marker = recorder::intern("step 5");
    h.step_tid = kPid;
    spool::Thread* const thread = recorder::this_thread();
    thread->tid = kPid;
    std::strncpy(thread->name, "train", sizeof thread->name);
    test::DeviceEvents::define_device();
    recorder::define(spool::DefinitionKind::kStream, 20, recorder::intern("nccl"), 0, {0, 1});
    recorder::define(spool::DefinitionKind::kCommunicator, 1, recorder::intern("default_pg"),
                     recorder::intern("[0, 1]"),
                     {0xabcd, 2, 1, 0, static_cast<std::int64_t>(spool::CommunicatorBackend::kNccl), 0});
    for (const auto& [key, json] : {std::pair{"cupti_version", "130001"}, {"cuda_runtime_version", "13000"}}) {
      recorder::add_metadata(key, json);
    }
    recorder::define(spool::DefinitionKind::kProblem, 0, recorder::intern("2 records were dropped"),
                     recorder::intern("cupti"), {});
  }

  void record() {
    spool::Window* const window = recorder::open_window(at(0), recorder::add_mark({at(0), 5, 5}));
    for (int step = 0; step < 3; ++step) {
      if (step > 0) recorder::add_mark({at(step), 5 + step, 5 + step});
      train(at(step));
    }
    everything_else(at(2) + 500 * kUs);
    window->complete = 1;
    recorder::close_window(*window, at(3), recorder::add_mark({at(3), 8, 8}), spool::WindowEnd::kSchedule, 0);
  }

  static Ticks at(int step) { return 1'000'000 * kUs + static_cast<Ticks>(step) * 1000 * kUs; }

  void train(Ticks t) {
    const std::uint32_t copy = next_++, forward = next_++, reduce = next_++;
    range(t, t + 400 * kUs, "step");
    device_->call(t + 10 * kUs, t + 14 * kUs, "cudaMemcpyAsync_v3020", copy, kPid);
    device_->copy(t + 40 * kUs, t + 50 * kUs, copy, 1 << 20);
    range(t + 20 * kUs, t + 60 * kUs, "forward");
    device_->call(t + 25 * kUs, t + 28 * kUs, "__cudaLaunchKernel_v13000", forward, kPid);
    device_->kernel(t + 50 * kUs, t + 150 * kUs, "_Z7forwardIfEvPT_", forward);
    Event op = test::DeviceEvents::event(hooks::ncclAllReduce, t + 70 * kUs, t + 90 * kUs);
    op.nccl = {.count = 1 << 20,
               .comm = 1,
               .sequence = forward,
               .peer = kNone32,
               .operation = forward,
               .datatype = 7,
               .op = 0,
               .bytes = 4 << 20};
    recorder::commit(*recorder::this_thread(), op);
    Event launch = test::DeviceEvents::event(HookId::kCudaApi, t + 75 * kUs, t + 80 * kUs);
    launch.name = recorder::intern("cuLaunchKernelEx");
    launch.api = {.correlation = reduce, .callback_id = 652, .tid = kPid, .external = forward, .is_launch = 1};
    device_->commit(launch);
    device_->kernel(t + 151 * kUs, t + 301 * kUs, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", reduce, 20);
  }

  void everything_else(Ticks t) {
    const std::uint32_t graph = next_++, whole = next_++, peer = next_++, record = next_++, wait = next_++,
                        sync = next_++, malloc = next_++;
    device_->call(t, t + kUs, "cudaGraphLaunch_v10000", graph, kOtherThread);
    device_->kernel(t + 10 * kUs, t + 12 * kUs, "node", graph);
    device_->other(
        HookId::kMemset, t + 12 * kUs, t + 13 * kUs,
        {.correlation = graph, .kind = 3, .context = 1, .stream = 7, .bytes = 640, .graph_node = 77, .graph = 5});
    device_->call(t + 2 * kUs, t + 3 * kUs, "cudaGraphLaunch_v10000", whole, kOtherThread);
    device_->other(HookId::kGraphRun, t + 20 * kUs, t + 30 * kUs,
                   {.correlation = whole, .context = 1, .stream = 7, .graph = 6});
    device_->call(t + 4 * kUs, t + 5 * kUs, "cudaMemcpyPeerAsync_v4000", peer, kOtherThread);
    Event copy = test::DeviceEvents::event(HookId::kMemcpyPeer, t + 30 * kUs, t + 31 * kUs);
    copy.flags = kContinues;
    copy.gpu = {.correlation = peer, .kind = 10 | 3 << 4 | 3 << 8, .context = 1, .stream = 7, .bytes = 4096};
    device_->commit(copy);
    copy.hook = HookId::kContinuation;
    copy.flags = 0;
    copy.peer = {.from_device = 0, .to_device = 1, .from_context = 1, .to_context = 2};
    device_->commit(copy);
    device_->call(t + 6 * kUs, t + 7 * kUs, "cudaEventRecord_v3020", record, kOtherThread);
    device_->call(t + 8 * kUs, t + 9 * kUs, "cudaStreamWaitEvent_v3020", wait, kOtherThread);
    device_->sync(
        t + 8 * kUs, t + 9 * kUs,
        {.correlation = wait, .kind = 2, .context = 1, .stream = 7, .event = 3, .record = record, .record_stream = 20});
    device_->call(t + 10 * kUs, t + 40 * kUs, "cudaDeviceSynchronize_v3020", sync, kOtherThread);
    device_->sync(t + 11 * kUs, t + 39 * kUs,
                  {.correlation = sync,
                   .kind = 4,
                   .context = 1,
                   .stream = ~0u,
                   .event = kUnknownNumber,
                   .record = kUnknownNumber});
    device_->call(t + 41 * kUs, t + 42 * kUs, "cudaMalloc_v3020", malloc, kOtherThread);
    device_->memory(t + 41 * kUs,
                    {.correlation = malloc, .kind = 1, .bytes = 4096, .address = 0x7f0000, .memory_kind = 3});
    device_->overhead(t + 43 * kUs, t + 44 * kUs, 1);
    device_->kernel(t + 50 * kUs, t + 51 * kUs, "launched by nobody", 900);
  }

  static void range(Ticks begin, Ticks end, const char* name) {
    Event e = test::DeviceEvents::event(HookId::kNvtxRange, begin, end);
    e.name = recorder::intern(name);
    recorder::commit(*recorder::this_thread(), e);
  }

  std::string trace() {
    const auto v = view();
    kineto::WindowTraceBuilder builder(*v, 0, {.trace_name = "/run/rank1.5.pt.trace.json"});
    std::string text;
    test::MemorySink sink(text);
    EXPECT_TRUE(builder.write(sink, {}));
    return text;
  }

  std::unique_ptr<test::DeviceEvents> device_ = nullptr;
  std::uint32_t next_ = 100;
};

TEST_F(GoldenGpu, TheTraceIsTheOneThatIsKept) {
  device_ = std::make_unique<test::DeviceEvents>();
  record();

  const std::string text = trace();

  if (std::getenv("PROFSHIM_RENEW_GOLDEN") != nullptr) std::ofstream(kPath) << text;
  std::stringstream kept;
  kept << std::ifstream(kPath).rdbuf();
  std::istringstream ours(text);
  int line_number = 0;
  for (std::string is, was; std::getline(ours, is) && std::getline(kept, was);) {
    ++line_number;
    ASSERT_EQ(is, was) << "line " << line_number << " of " << kPath << "; `make golden` if that is meant";
  }
  EXPECT_EQ(text, kept.str()) << "its length; `make golden` if that is meant";
  const FileReport report = verify_trace_bytes(text, "rank1.5.pt.trace.json");
  for (const Finding& f : report.findings) EXPECT_FALSE(f.must) << f.item << ' ' << f.message;
}

}  // namespace
}  // namespace profshim
