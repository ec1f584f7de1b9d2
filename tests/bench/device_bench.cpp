#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "profshim/recorder_control.h"
#include "profshim/trace/writer.h"
#include "profshim/window_trace.h"
#include "unit/kineto/device/device_events.h"
#include "unit/temporary_folder.h"

namespace {

using namespace profshim;

constexpr std::uint32_t kKernels = 1'000'000, kStreams = 4;
constexpr std::uint32_t kChunks = 3 * kKernels / spool::kEventsPerChunk + 64;

class NullSink final : public ByteSink {
 public:
  bool write(const char*, std::size_t size) override {
    bytes += size;
    return true;
  }
  bool close() override { return true; }
  std::uint64_t bytes = 0;
};

long resident_kib() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) std::exit(1);
  std::fclose(file);
  return resident * 4;
}

// Other processes hardly change CPU time.
std::int64_t cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// As in CUPTI's buffers, groups of kernels alternate with groups of launches.
void fill() {
  test::DeviceEvents device;
  constexpr std::uint32_t kBuffer = 500;
  for (std::uint32_t first = 0; first < kKernels; first += kBuffer) {
    for (std::uint32_t i = first; i < first + kBuffer; ++i) {
      device.kernel(2'000'000 + i * 1000, 2'000'900 + i * 1000, "_Z4saxpIfEvPT_", i + 1, 7 + i % kStreams);
    }
    for (std::uint32_t i = first; i < first + kBuffer; ++i) {
      device.call(1'000'000 + i * 1000, 1'000'800 + i * 1000, "cudaLaunchKernel", i + 1, 4711);
    }
  }
}

}  // namespace

int main() {
  const test::TemporaryFolder folder;
  std::string why_not;
  use_clock(ClockKind::kMonotonic);
  if (!recorder::create_spool(folder.path() + "/spool", {kChunks, 1 << 20}, why_not)) return 1;
  recorder::set_mode(recorder::kActive | recorder::kArmed, 0);
  while (recorder::tend_pool([] { return Ticks{1}; }, kChunks).unused > 0) continue;
  recorder::add_anchor({1, 1, 1'700'000'000'000'000'001});
  test::DeviceEvents::define_device();
  spool::Window* const window = recorder::open_window(1'000'000, recorder::add_mark({1'000'000, 1, 1}));
  fill();
  const Ticks end = 1'000'000 + Ticks{kKernels} * 1000;
  recorder::close_window(*window, end, recorder::add_mark({end, 2, 2}), spool::WindowEnd::kSchedule, 0);

  const auto view = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
  const long before = resident_kib();
  const std::int64_t start = cpu_ns();
  kineto::WindowTraceBuilder builder(*view, 0, {});
  const std::int64_t gathered = cpu_ns();
  const long held = resident_kib() - before;
  NullSink sink;
  builder.write(sink, {});
  const std::int64_t written = cpu_ns();
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1e9; };
  const auto records = static_cast<double>(builder.summary().device);
  const auto events = static_cast<double>(builder.summary().events);
  std::printf("%.0f launches and kernels (%llu lost) of %u streams: %.2f s to gather, %.2f s to write\n", records,
              static_cast<unsigned long long>(builder.summary().dropped), kStreams, seconds(gathered - start),
              seconds(written - gathered));
  std::printf(
      "%.2f M records and %.2f M trace events per second of CPU; %.1f bytes of index per record; %.0f bytes of "
      "JSON per trace event\n",
      records / seconds(written - start) / 1e6, events / seconds(written - start) / 1e6,
      static_cast<double>(held) * 1024 / records, static_cast<double>(sink.bytes) / events);
  return 0;
}
