// usage: write_bench [EVENTS] [FOLDER]
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "profshim/analysis/memory.h"
#include "profshim/analysis/written_trace.h"
#include "profshim/trace/writer.h"

namespace {

using namespace profshim;

class NullSink final : public ByteSink {
 public:
  bool write(const char*, std::size_t size) override {
    bytes += size;
    return true;
  }
  bool close() override { return true; }
  std::uint64_t bytes = 0;
};

class CountingSink final : public ByteSink {
 public:
  CountingSink(std::unique_ptr<ByteSink> out, std::uint64_t& bytes) : out_(std::move(out)), bytes_(bytes) {}
  bool write(const char* data, std::size_t size) override {
    bytes_ += size;
    return out_->write(data, size);
  }
  bool close() override { return out_->close(); }

 private:
  std::unique_ptr<ByteSink> out_;
  std::uint64_t& bytes_;
};

void write_events(TraceWriter& writer, std::int64_t count) {
  constexpr std::string_view kNames[] = {"MPI_Allreduce", "MPI_Isend", "MPI_Wait", "MPI_Bcast"};
  for (std::int64_t i = 0; i < count; ++i) {
    const Arg args[] = {{"bytes", (i % 1000) * 8},
                        {"count", i % 1000},
                        {"dtype", std::string_view("MPI_DOUBLE")},
                        {"op", std::string_view("MPI_SUM")},
                        {"comm", std::string_view("MPI_COMM_WORLD")},
                        {"comm size", std::int64_t{1024}},
                        {"seq", i},
                        {"Collective name", std::string_view("allreduce")}};
    writer.write({.phase = 'X',
                  .category = Category::kCpuOp,
                  .name = kNames[i % 4],
                  .pid = 1234567,
                  .tid = 1234567 + i % 3,
                  .begin_ns = 1790857026000000000 + 123456789012 + i * 1371,
                  .duration_ns = 900 + i % 5000,
                  .args = args});
  }
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void measure(const char* what, std::int64_t events, ByteSink& sink, const std::uint64_t* packed) {
  TraceHeader header;
  header.base_time_ns = 1790857026000000000;
  const double cpu_start = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  TraceWriter writer(sink, header);
  write_events(writer, events);
  const bool finished = writer.finish();
  const bool closed = sink.close();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu = cpu_seconds() - cpu_start;
  if (!finished || !closed) std::printf("%-24s FAILED\n", what);
  std::printf("%-24s %6.2f M events/s %8.1f MB/s, %6.2f M events per CPU second of the caller, %6.1f bytes/event", what,
              static_cast<double>(events) / seconds / 1e6, static_cast<double>(writer.bytes()) / seconds / 1e6,
              static_cast<double>(events) / cpu / 1e6,
              static_cast<double>(writer.bytes()) / static_cast<double>(events));
  if (packed != nullptr) std::printf(" (%.1f in the file)", static_cast<double>(*packed) / static_cast<double>(events));
  std::printf("\n");
}

/// The answers of [summary] while a trace is written, as a multiple of writing it, and of the time in which `profshim
/// summary` reads the file.
void measure_summary(std::int64_t events, const std::string& path) {
  TraceHeader header;
  header.base_time_ns = 1790857026000000000;
  header.rank.rank = 0;
  ViewChoice choice;
  choice.kernels = choice.steps = choice.comms = true;
  const auto cpu_of = [](auto work) {
    const double start = cpu_seconds();
    work();
    return cpu_seconds() - start;
  };
  NullSink null;
  const auto write = [&](ByteSink& sink, TraceObserver* observer) {
    TraceWriter writer(sink, header, nullptr, observer);
    write_events(writer, events);
    writer.finish();
  };
  const double plain = cpu_of([&] { write(null, nullptr); });
  WrittenTrace trace(~std::uint64_t{0});
  const double views = cpu_of([&] {
    write(null, &trace.observer());
    if (!trace.why_not().empty() || trace.views(choice).views.size() != 3) std::printf("FAILED\n");
  });
  const double table = cpu_of([&] { trace.key_averages(); });
  AtomicFile file;
  if (!file.open(path)) return;
  write(*file_sink(file), nullptr);
  if (!file.publish(AtomicFile::Existing::kReplace)) return;
  const double reading = cpu_of([&] { make_views({path}, choice); });
  std::remove(path.c_str());
  std::printf(
      "views of [summary]: %.0f ns/event, %.2f of writing, %.2f of profshim summary; summary.table: %.0f more\n",
      (views - plain) / static_cast<double>(events) * 1e9, (views - plain) / plain, (views - plain) / reading,
      table / static_cast<double>(events) * 1e9);
}

/// Two operators and an allocation or a release at a time; up to 3000 blocks are alive.
void write_memory(TraceWriter& writer, std::int64_t count) {
  constexpr std::string_view kOuter[] = {"aten::linear", "aten::conv2d", "aten::mul", "Optimizer.step#Adam.step"};
  constexpr std::int64_t kStart = 1790857026000000000 + 123456789012, kAlive = 3000;
  std::int64_t total = 0;
  const auto slice = [&](std::string_view name, std::int64_t begin_ns, std::int64_t duration_ns) {
    writer.write({.category = Category::kCpuOp,
                  .name = name,
                  .pid = 9,
                  .tid = 9,
                  .begin_ns = begin_ns,
                  .duration_ns = duration_ns});
  };
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t begin_ns = kStart + i * 5000, turn = i % (2 * kAlive);
    slice(kOuter[i % 4], begin_ns, 4000);
    slice("aten::empty", begin_ns + 100, 3000);
    const std::int64_t block = turn < kAlive ? turn : 2 * kAlive - 1 - turn;
    const std::int64_t bytes = (turn < kAlive ? 512 : -512) * (block % 100 + 1);
    total += bytes;
    const Arg args[] = {{"Device Type", std::int64_t{1}},         {"Device Id", std::int64_t{0}},
                        {"Addr", 0x7f0000000000 + block * 65536}, {"Bytes", bytes},
                        {"Total Allocated", total + (1 << 30)},   {"Total Reserved", std::int64_t{2} << 30}};
    writer.write({.phase = 'i',
                  .category = Category::kCpuInstantEvent,
                  .name = "[memory]",
                  .pid = 9,
                  .tid = 9,
                  .begin_ns = begin_ns + 200,
                  .args = args});
  }
}

/// The page of memory_timeline while a trace is written.
void measure_memory_page(std::int64_t entries) {
  TraceHeader header;
  header.base_time_ns = 1790857026000000000;
  NullSink null;
  const auto seconds_of = [](auto work) {
    const double start = cpu_seconds();
    work();
    return cpu_seconds() - start;
  };
  const auto write = [&](TraceObserver* observer) {
    TraceWriter writer(null, header, nullptr, observer);
    write_memory(writer, entries);
    writer.finish();
  };
  const double plain = seconds_of([&] { write(nullptr); });
  WrittenMemory memory(~std::uint64_t{0});
  const double seen = seconds_of([&] { write(&memory.observer()); }) - plain;
  std::string page;
  const double made = seconds_of([&] { page = report_page(memory.report()); });
  std::printf("page of memory_timeline, %lld entries in %lld operators: %.2f s, %.2f of writing the trace; %.0f kB\n",
              static_cast<long long>(entries), static_cast<long long>(2 * entries), seen + made, (seen + made) / plain,
              static_cast<double>(page.size()) / 1000);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t events = argc > 1 ? std::atoll(argv[1]) : 2'000'000;
  const std::string path = std::string(argc > 2 ? argv[2] : "/tmp") + "/write_bench.pt.trace.json";

  NullSink null;
  measure("plain, to nothing", events, null, nullptr);
  {
    AtomicFile file;
    if (!file.open(path)) return 1;
    measure("plain, to a file", events, *file_sink(file), nullptr);
  }
  for (const int threads : {0, 1, 2, 4}) {
    AtomicFile file;  // never published
    if (!file.open(path + ".gz")) return 1;
    std::uint64_t packed = 0;
    const auto sink = gzip_sink(std::make_unique<CountingSink>(file_sink(file), packed), 1, threads);
    measure(("gzip level 1, threads " + std::to_string(threads)).c_str(), events, *sink, &packed);
  }
  measure_summary(events / 4, path);
  measure_memory_page(events / 2);
  return 0;
}
