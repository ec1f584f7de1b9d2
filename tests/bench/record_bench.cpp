#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "profshim/recorder_control.h"
#include "unit/device/scripted_cupti.h"
#include "unit/temporary_folder.h"

namespace {

using namespace profshim;

constexpr std::uint32_t kKernels = 1'000'000, kStreams = 4;
constexpr std::uint32_t kEventsEach = 3;  // launch, kernel, the kernel's continuation
constexpr std::uint32_t kChunks = kEventsEach * kKernels / spool::kEventsPerChunk + 64;
constexpr std::uint32_t kBatch = 4000;  // kernels, or launches, per buffer
constexpr std::uint32_t kBuffers = 32;  // filled before each measurement

std::int64_t cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

class DeviceBlock final : public device::EventOutput {
 public:
  void put(const Event& event, const Event* continuation) override {
    store(event);
    if (continuation != nullptr) store(*continuation);
  }
  StringId text(const char* text) override { return recorder::intern_literal(text); }
  void define(spool::DefinitionKind, std::uint32_t, std::string_view, std::string_view,
              std::initializer_list<std::int64_t>) override {}

  std::uint64_t stored = 0;

 private:
  void store(const Event& event) {
    Event* const slot = recorder::next_slot(*block_);
    if (slot == nullptr) return;
    *slot = event;
    recorder::publish(*block_);
    ++stored;
  }
  spool::Thread* const block_ = recorder::device_block();
};

class Run {
 public:
  explicit Run(DeviceBlock& block)
      : capture_(cupti_.api(), block, options()), copy_(kBuffers << 20), to_(kBuffers << 20) {
    std::memset(copy_.data(), 1, copy_.size());
    std::memset(to_.data(), 1, to_.size());
    capture_.prepare(device::id_places_of_this_thread());
    request_.on = true;
    while (capture_.make_one_buffer()) continue;
    capture_.serve(request_, now_ns_);
    begin_ = ticks();
  }

  void kernels() {
    for (std::uint32_t first = 0; first < kKernels; first += kBatch * kBuffers / 2) {
      const std::uint32_t end = std::min(first + kBatch * kBuffers / 2, kKernels);
      for (std::uint32_t at = first; at < end; at += kBatch) fill(at, std::min(at + kBatch, end));
      take();
    }
  }
  double taken_ns = 0, copied_ns = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost() {
    const device::Losses& losses = capture_.converter().losses();
    return losses.times.all() + losses.truncated + losses.unknown_kinds + losses.launches;
  }

 private:
  static device::CaptureOptions options() {
    device::CaptureOptions options;
    options.buffers = kBuffers;
    return options;
  }
  void fill(std::uint32_t first, std::uint32_t end) {
    static constexpr const char* kNames[] = {"_Z4saxpIfEvPT_", "_Z4gemmv", "_Z4adamv", "_Z7softmaxv"};
    device::cupti::KernelRecord kernel{};
    kernel.kind = device::cupti::kConcurrentKernelKind;
    kernel.context = 1;
    kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
    for (std::uint32_t i = first; i < end; ++i) {
      kernel.correlation = i + 1;
      kernel.stream = 7 + i % kStreams;
      kernel.start = begin_ + i * 100 + 60;
      kernel.end = kernel.start + 40;
      kernel.name = kNames[i % std::size(kNames)];
      cupti_.add(kernel);
    }
    cupti_.deliver();
    const auto thread = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pthread_self()));
    for (std::uint32_t i = first; i < end; ++i) {
      cupti_.add(device::cupti::ApiRecord{device::cupti::kRuntimeKind, 1, begin_ + i * 100, begin_ + i * 100 + 50, 1,
                                          thread, i + 1, 0});
    }
    cupti_.deliver();
    batch_bytes_ += (end - first) * (test::kCupti130.kernel + sizeof(device::cupti::ApiRecord));
  }
  void take() {
    const std::int64_t before = cpu_ns();
    capture_.serve(request_, now_ns_ += device::Capture::kFlushEvery_ns);
    const std::int64_t after = cpu_ns();
    std::memcpy(to_.data(), copy_.data(), std::min(batch_bytes_, to_.size()));
    copied_ns += static_cast<double>(cpu_ns() - after);
    taken_ns += static_cast<double>(after - before);
    bytes += batch_bytes_;
    batch_bytes_ = 0;
  }

  test::ScriptedCupti cupti_;
  device::Capture capture_;
  device::CaptureRequest request_;
  std::vector<std::uint8_t> copy_, to_;
  std::int64_t now_ns_ = 1'000'000'000'000;
  Ticks begin_ = 0;
  std::size_t batch_bytes_ = 0;
};

}  // namespace

int main() {
  const test::TemporaryFolder folder;
  std::string why_not;
  use_clock(ClockKind::kMonotonic);
  if (!recorder::create_spool(folder.path() + "/spool", {kChunks, 1 << 20}, why_not)) return 1;
  recorder::set_mode(recorder::kActive | recorder::kArmed, 0);
  while (recorder::tend_pool([] { return Ticks{1}; }, kChunks).unused > 0) continue;
  DeviceBlock block;
  Run run(block);
  run.kernels();
  if (run.lost() != 0 || block.stored != std::uint64_t{kEventsEach} * kKernels) {
    std::printf("only %llu of %llu events reached the spool\n", static_cast<unsigned long long>(block.stored),
                static_cast<unsigned long long>(kEventsEach) * kKernels);
    return 1;
  }
  const double seconds = run.taken_ns / 1e9;
  std::printf(
      "1 M kernels and their launches (%llu lost), %.0f MB of CUPTI's buffers: %.2f M records per second of CPU\n",
      static_cast<unsigned long long>(run.lost()), static_cast<double>(run.bytes) / 1e6,
      2.0 * kKernels / seconds / 1e6);
  std::printf("%.1f %% of one core where a job launches 1 M kernels in 10 s; %.1f times a copy of the same bytes\n",
              seconds * 10, run.taken_ns / run.copied_ns);
  std::printf("(our device thread alone, from full buffers to the spool; what CUPTI itself costs needs a GPU)\n");
  return 0;
}
