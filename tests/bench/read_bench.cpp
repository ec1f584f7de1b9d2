// usage: read_bench [EVENTS [FILES [FOLDER]]]
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "profshim/analysis/merge.h"
#include "profshim/analysis/summary.h"
#include "profshim/convert.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"

namespace {

using namespace profshim;

constexpr const char* kConsumers = PROFSHIM_BUILD_DIR "/venv-consumers/bin/python";

void write_trace(const std::string& path, int rank, std::int64_t events) {
  AtomicFile file;
  file.open(path);
  const std::unique_ptr<ByteSink> sink = file_sink(file);
  TraceHeader header;
  header.rank.rank = rank;
  header.rank.world_size = 64;
  header.rank.host = "node" + std::to_string(rank);
  header.base_time_ns = 1790857026000000000;
  TraceWriter writer(*sink, header);
  for (std::int64_t i = 0; i < events; ++i) {
    const bool reduces = i % 10 == 0;
    const Arg args[] = {{"bytes", (i % 1000) * 8},
                        {"count", i % 1000 + 1},
                        {"Group size", std::int64_t{64}},
                        {"comm", std::string_view("MPI_COMM_WORLD")},
                        {"comm id", std::string_view("fe9c4c2de46e0097")},
                        {"Seq", i}};
    writer.write({.category = Category::kCpuOp,
                  .name = reduces ? "MPI_Allreduce" : "MPI_Waitall",
                  .pid = 4321 + rank,
                  .tid = 4321 + rank,
                  .begin_ns = header.base_time_ns + 123456789012 + i * 10'000 + rank,
                  .duration_ns = 900 + i % 5000,
                  .args = reduces ? std::span<const Arg>(args) : std::span<const Arg>(args).first(2)});
  }
  writer.finish();
  sink->close();
  file.publish(AtomicFile::Existing::kReplace);
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns 0 on failure.
double python_seconds(const char* python, const std::string& program) {
  const std::string command =
      std::string(python) + " -c \"import time; " + program + "; print(time.time()-t)\" 2>/dev/null";
  std::FILE* const out = popen(command.c_str(), "r");
  double seconds = 0;
  if (out == nullptr || std::fscanf(out, "%lf", &seconds) != 1) seconds = 0;
  if (out != nullptr) pclose(out);
  return seconds;
}

struct Cost {
  double seconds = 0, cpu_seconds = 0, mib = 0;
};
Cost cost_of(const auto& work) {
  Cost cost;
  cost.seconds = seconds_of([&] {
    const pid_t child = fork();
    if (child == 0) _exit(work().error.empty() ? 0 : 1);
    rusage used{};
    int status = 0;
    if (wait4(child, &status, 0, &used) != child || status != 0) std::exit(1);
    cost.mib = static_cast<double>(used.ru_maxrss) / 1024;
    for (const timeval& time : {used.ru_utime, used.ru_stime})
      cost.cpu_seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  });
  return cost;
}

Cost merge_cost(const std::string& folder, int files) {
  MergeOptions options;
  for (int rank = 0; rank < files; ++rank)
    options.paths.push_back(folder + "/rank" + std::to_string(rank) + ".0.pt.trace.json");
  options.out = folder + "/merged.pt.trace.json";
  const Cost cost = cost_of([&] { return merge_traces(options); });
  std::filesystem::remove(options.out);
  return cost;
}

void print_conversion(const char* what, const std::string& out, double megabytes, const Cost& cost) {
  std::printf("convert to %-8s %7.2f s %8.0f MB/s of one core, %.0f MiB of memory, %.1f MB\n", what, cost.seconds,
              megabytes / cost.cpu_seconds, cost.mib, static_cast<double>(std::filesystem::file_size(out)) / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t events = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  char name[] = "/tmp/profshim-read-XXXXXX";
  const int most_files = argc > 2 ? std::atoi(argv[2]) : 8;
  const std::string folder = argc > 3 ? argv[3] : mkdtemp(name);
  for (int rank = 0; rank < most_files; ++rank)
    write_trace(folder + "/rank" + std::to_string(rank) + ".0.pt.trace.json", rank, events);
  const std::string file = folder + "/rank0.0.pt.trace.json";
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) / 1e6;

  double read = 1e9, summary = 1e9;
  for (int i = 0; i < 3; ++i) {
    read = std::min(read, seconds_of([&] { read_trace(file, {}); }));
    summary = std::min(summary, seconds_of([&] { key_averages({file}, {}); }));
  }
  const double json = python_seconds("/usr/bin/python3", "import json; t=time.time(); json.load(open('" + file + "'))");
  const double hta = python_seconds(kConsumers,
                                    "from hta.trace_analysis import TraceAnalysis; t=time.time(); "
                                    "TraceAnalysis(trace_files={0: '" +
                                        file + "'}, trace_dir='" + folder + "')");
  std::printf("%.0f MB, %lld events\n", megabytes, static_cast<long long>(events));
  std::printf("read                %7.2f s %8.0f MB/s", read, megabytes / read);
  if (json > 0)
    std::printf(", %.1f times as fast as Python's json (%.2f s)", json / read, json);
  else
    std::printf("; Python's json left out: no /usr/bin/python3");
  std::printf("\nsummary --table     %7.2f s %8.0f MB/s", summary, megabytes / summary);
  if (hta > 0)
    std::printf(", %.1f times as fast as HTA's load (%.2f s)", hta / summary, hta);
  else
    std::printf("; HTA left out: not in %s (scripts/consumers_venv.sh)", kConsumers);
  std::printf("\n");
  for (int files = 2; files <= most_files; files *= 2) {
    const Cost cost = merge_cost(folder, files);
    std::printf("merge of %d files    %7.2f s, %.2f s a file, %.0f MiB of memory\n", files, cost.seconds,
                cost.seconds / files, cost.mib);
  }
  const std::string twin = folder + "/x.pftrace", table = folder + "/x.parquet";
  print_conversion("pftrace", twin, megabytes, cost_of([&] { return convert_to_perfetto(file, twin); }));
  if (python_seconds(kConsumers, "import pyarrow; t=time.time()") > 0)
    print_conversion("parquet", table, megabytes, cost_of([&] {
                       return convert_to_parquet({{file}, table, kConsumers});
                     }));
  else
    std::printf("convert to parquet: left out: no pyarrow in %s (scripts/consumers_venv.sh)\n", kConsumers);
  if (argc <= 3) std::filesystem::remove_all(folder);
}
