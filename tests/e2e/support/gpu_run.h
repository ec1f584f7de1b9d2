// Runs the CUDA programs of tests/apps_gpu on the fake GPU of tests/fakes and reads the output of the programs, the
// fakes and the library.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run_under_shim.h"
#include "seen_trace.h"

namespace profshim::e2e {

/// One device activity of the simulated device: a line of FAKE_CUDA_TIMELINE.
struct Ran {
  std::string kind;  // kernel, memcpy, memcpy_peer, memset, graph
  std::int64_t start_ns = 0, end_ns = 0;
  int device = 0, stream = 0, correlation = 0;
  std::int64_t bytes = 0;
  int graph = 0;
  std::int64_t called_ns = 0;  // begin of the launching call
  std::string name;            // mangled
};

/// Reads a file that FAKE_CUDA_TIMELINE named.
std::vector<Ran> read_timeline(const std::string& path);

struct GpuRun {
  Outcome outcome;
  std::map<std::string, long> printed;         // "kernels 300" on the program's stdout
  std::vector<SeenTrace> traces;               // by path
  std::vector<Ran> timeline;                   // timeline of the simulated device
  std::map<std::string, std::uint64_t> cupti;  // counters of the fake CUPTI at the end: "records_10", "dropped", ...
  std::vector<int> left_enabled;               // activity kinds that were still on at the end
  std::vector<std::string> cupti_calls;        // "cuptiActivityEnable 10 0", in order

  /// Returns the device activities of a kind in the timeline.
  std::vector<const Ran*> ran(const std::string& kind) const;
  /// Returns the number of CUPTI calls whose line begins with `begin` ("cuptiActivityEnable" matches every kind).
  int calls(const std::string& begin) const;
};

struct GpuJob {
  std::string program;  // path below build/tests/apps_gpu; "nvcc/launch_loop" was built by nvcc
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string spec;   // without version, ranks and output; "" = everything from cuInit to the end
  std::string cupti;  // library under build/tests/fakes; "" = the one beside the runtime
  bool preload = true;
  double limit_seconds = 60;
};
GpuRun run_gpu(const GpuJob& job);

/// A spec that records everything from cuInit to the end.
inline constexpr const char* kRecordAll = "[steps]\nsource = \"none\"\n";

/// Returns the "X" events of a category.
std::vector<const SeenEvent*> of_category(const SeenTrace& trace, const std::string& category);

}  // namespace profshim::e2e
