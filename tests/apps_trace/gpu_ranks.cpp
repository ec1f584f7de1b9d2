// Writes traces of four ranks with a GPU each. Tests compute their expected numbers from timeline.jsonl, which has one
// device activity per line.
#include <cstdio>
#include <string>

#include "profshim/hooks/ids.h"
#include "profshim/recorder_control.h"
#include "profshim/trace/writer.h"
#include "profshim/window_trace.h"
#include "unit/kineto/device/device_events.h"
#include "unit/temporary_folder.h"

namespace {

using namespace profshim;

constexpr std::int64_t kWall = 7889238'000'000'000 * 220;
constexpr int kRanks = 4, kSteps = 3;
constexpr Ticks kUs = 1000, kStep = 10'000 * kUs, kBegin = 1'000'000 * kUs;
constexpr std::uint32_t kCompute = 7, kTalk = 20;

class RankOfJob {
 public:
  RankOfJob(int rank, std::FILE* timeline) : rank_(rank), timeline_(timeline) {}

  void run(const std::string& folder) {
    describe();
    spool::Window* window = nullptr;
    for (int step = 0; step < kSteps; ++step) {
      const Ticks at = kBegin + static_cast<Ticks>(step) * kStep;
      const std::uint64_t mark = recorder::add_mark({at, step, step});
      if (step == 0) window = recorder::open_window(at, mark);
      one_step(at);
    }
    const Ticks end = kBegin + kSteps * kStep;
    window->complete = 1;
    recorder::close_window(*window, end, recorder::add_mark({end, kSteps, kSteps}), spool::WindowEnd::kSchedule, 0);
    write(folder + "/rank" + std::to_string(rank_) + ".0.pt.trace.json");
  }

 private:
  void describe() {
    recorder::add_anchor({1, 1, kWall + 1});
    spool::SpoolHeader& h = recorder::header();
    h.base_time_ns = kWall;
    h.rank = rank_;
    h.world_size = kRanks;
    h.pid = 4700 + rank_;
    h.step_tid = tid();
    h.host = recorder::intern("node0");
    h.program = recorder::intern("train");
    test::DeviceEvents::define_device();
    recorder::define(spool::DefinitionKind::kCommunicator, 1, recorder::intern("default_pg"),
                     recorder::intern("[0, 1, 2, 3]"),
                     {0xabcd, kRanks, rank_, 0, static_cast<std::int64_t>(spool::CommunicatorBackend::kNccl), 0});
  }

  static std::int32_t tid() { return recorder::this_thread()->tid; }

  void one_step(Ticks at) {
    const Ticks longer = static_cast<Ticks>(rank_) * 100 * kUs;
    launch(at + 10 * kUs, "cudaLaunchKernel");
    kernel(at + 100 * kUs, at + 1100 * kUs, "void forward<float>(float*)", kCompute, "compute");
    launch(at + 30 * kUs, "cudaLaunchKernel");
    kernel(at + 1150 * kUs, at + 2150 * kUs + longer, "void backward<float>(float*)", kCompute, "compute");
    operation_ = ++operations_;
    Event op = test::DeviceEvents::event(hooks::ncclAllReduce, at + 45 * kUs, at + 75 * kUs);
    op.nccl = {.count = 1 << 20,
               .comm = 1,
               .sequence = operation_,
               .peer = kNone32,
               .operation = operation_,
               .datatype = 7,
               .op = 0,
               .bytes = 4 << 20};
    recorder::commit(*recorder::this_thread(), op);
    launch(at + 50 * kUs, "cudaLaunchKernelExC");
    kernel(at + 2000 * kUs, at + 3000 * kUs, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", kTalk, "communication");
    operation_ = 0;
    // The compute stream idles until the host launches a copy.
    launch(at + 3900 * kUs, "cudaMemcpyAsync");
    note(at + 4000 * kUs, at + 4200 * kUs, "Memcpy HtoD (Pinned -> Device)", kCompute, "memory");
    device_.copy(at + 4000 * kUs, at + 4200 * kUs, correlation_, 1 << 20, kCompute);
  }

  void launch(Ticks at, const char* name) {
    launched_ = at;
    Event e = test::DeviceEvents::event(HookId::kCudaApi, at, at + 5 * kUs);
    e.name = recorder::intern(name);
    e.api = {.correlation = ++correlation_,
             .callback_id = 211,
             .tid = tid(),
             .external = operation_,
             .is_runtime = 1,
             .is_launch = 1};
    device_.commit(e);
  }

  void kernel(Ticks begin, Ticks end, const char* name, std::uint32_t stream, const char* kind) {
    note(begin, end, name, stream, kind);
    device_.kernel(begin, end, name, correlation_, stream);
  }

  void note(Ticks begin, Ticks end, const char* name, std::uint32_t stream, const char* kind) {
    std::fprintf(timeline_,
                 "{\"rank\": %d, \"stream\": %u, \"kind\": \"%s\", \"name\": \"%s\", \"launched_us\": %.3f, "
                 "\"begin_us\": %.3f, \"end_us\": %.3f}\n",
                 rank_, stream, kind, name, static_cast<double>(launched_) / 1000, static_cast<double>(begin) / 1000,
                 static_cast<double>(end) / 1000);
  }

  static void write(const std::string& path) {
    std::string why_not;
    const auto view = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
    kineto::WindowTraceBuilder builder(*view, 0, {.trace_name = path});
    AtomicFile file;
    if (!file.open(path)) std::exit(1);
    const auto sink = file_sink(file);
    if (!builder.write(*sink, {}) || !sink->close() || !file.publish(AtomicFile::Existing::kReplace)) std::exit(1);
  }

  int rank_;
  std::FILE* timeline_;
  test::DeviceEvents device_;
  std::uint32_t correlation_ = 0, operation_ = 0, operations_ = 0;
  Ticks launched_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  std::FILE* const timeline = std::fopen((folder + "/timeline.jsonl").c_str(), "w");
  if (timeline == nullptr) return 1;
  for (int rank = 0; rank < kRanks; ++rank) {
    const test::TemporaryFolder spool_folder;
    std::string why_not;
    use_clock(ClockKind::kMonotonic);
    if (!recorder::create_spool(spool_folder.path() + "/spool", {16, 256 << 10}, why_not)) return 1;
    recorder::set_mode(recorder::kActive | recorder::kArmed, 0);
    recorder::tend_pool([] { return Ticks{1}; }, 8);
    RankOfJob(rank, timeline).run(folder);
    recorder::set_mode(0, ~0u);
    recorder::abandon_in_child();
  }
  return std::fclose(timeline) == 0 ? 0 : 1;
}
