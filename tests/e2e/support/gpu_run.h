#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"
#include "seen_trace.h"

namespace profshim::e2e {

/// A device activity: one line of the file $FAKE_CUDA_TIMELINE.
struct Ran {
  std::string kind;  // kernel, memcpy, memcpy_peer, memset, graph
  std::int64_t start_ns = 0, end_ns = 0;
  int device = 0, stream = 0, correlation = 0;
  std::int64_t bytes = 0;
  int graph = 0;
  std::int64_t called_ns = 0;  // time of the launching call
  std::string name;            // mangled
};

std::vector<Ran> read_timeline(const std::string& path);

struct GpuRun {
  Outcome outcome;
  std::map<std::string, long> printed;  // lines such as "kernels 300" on stdout
  std::vector<SeenTrace> traces;        // sorted by path
  std::string stacks;                   // text of all *.stacks.txt
  std::vector<Ran> timeline;
  std::map<std::string, std::uint64_t> cupti;  // final counters of the fake CUPTI: "records_10", "dropped", ...
  std::vector<int> left_enabled;               // activity kinds at exit
  std::vector<std::string> cupti_calls;        // such as "cuptiActivityEnable 10 0"

  std::vector<const Ran*> ran(const std::string& kind) const;
  /// Counts `cupti_calls` that start with `begin`.
  int calls(const std::string& begin) const;
};

struct GpuJob {
  std::string program;  // path below build/tests/apps_gpu
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string spec;   // without version, ranks and output; "" = kRecordAll
  std::string cupti;  // path below build/tests/fakes; "" = the fake CUPTI beside the fake CUDA runtime
  bool preload = true;
};
GpuRun run_gpu(const GpuJob& job);

/// A spec that records from cuInit to the end.
inline constexpr const char* kRecordAll = "[steps]\nsource = \"none\"\n";

std::vector<const SeenEvent*> of_category(const SeenTrace& trace, const std::string& category);

}  // namespace profshim::e2e
