// Checks of finished traces: profshim verify, and [check] of a spec. Tool only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"

namespace profshim {

/// A broken item of the Kineto checklist.
struct Finding {
  int item = 0;             // see src/analysis/verify/checklist.cpp
  bool must = true;         // false = should
  std::string message;      // names or locates the first event
  std::uint64_t count = 1;  // events that break the item
};
struct FileReport {
  std::string path;
  bool readable = false;
  std::string error;
  int rank = -1;
  std::uint64_t events = 0;
  std::vector<std::int64_t> steps;  // ProfilerStep#N
  bool complete = true, truncated = false;
  bool merged = false;  // by `profshim merge`
  std::uint64_t dropped = 0;
  int world_size = -1;
  std::int64_t base_time_ns = 0;
  std::string spec_hash;  // "" in traces of other tools
  std::vector<Finding> findings;
  bool conforms() const;  // readable, and no `must` finding
};
/// Runs the whole checklist. An unreadable file sets `error`; no exception.
FileReport verify_trace(const std::string& path);
/// For tests and fuzzing. `path`: the name that item 2 checks.
FileReport verify_trace_bytes(std::string_view bytes, const std::string& path);
/// For the files of one window: same base time, distinct ranks, same steps, same spec. Adds findings.
void verify_together(std::vector<FileReport>& reports);

/// For [check].
struct TracesSeen {
  std::uint64_t files = 0, incomplete_files = 0, dropped = 0;
  int world_size = -1;  // -1 = unknown
  std::vector<int> ranks;
};
/// Outcome of min_traces, ranks or complete of [check].
struct TraceRule {
  std::string key;            // "check.ranks"
  std::optional<bool> holds;  // none = the traces do not contain the answer
  std::string sentence;
  std::vector<int> missing;  // ranks
};
/// Checks the keys that are set.
std::vector<TraceRule> check_traces(const Spec& spec, const TracesSeen& seen);

/// "0-3, 6"
std::string rank_list(const std::vector<int>& ranks);
/// "rank 2", "ranks 0-3, 6"
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace profshim
