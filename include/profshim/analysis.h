// What the tool finds out from finished traces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"

namespace profshim {

/// One broken statement of the Kineto checklist in one file.
struct Finding {
  int item = 0;             // number in the checklist (see src/analysis/verify/conformance.cpp)
  bool must = true;         // false = should
  std::string message;      // with the event's name or position
  std::uint64_t count = 1;  // how many events break it
};
struct FileReport {
  std::string path;
  bool readable = false;
  std::string error;
  int rank = -1;
  std::uint64_t events = 0;
  std::vector<std::int64_t> steps;  // ProfilerStep#N
  bool complete = true, truncated = false;
  bool merged = false;  // of several ranks, by `profshim merge`
  std::uint64_t dropped = 0;
  int world_size = -1;
  std::int64_t base_time_ns = 0;
  std::string spec_hash;  // of the "profshim" object; "" in traces of others
  std::vector<Finding> findings;
  bool conforms() const;  // no finding of level must
};
/// The whole checklist on one file.
FileReport verify_trace(const std::string& path);
/// The same on bytes, for tests and fuzzing; `path` gives the name that item 2 looks at.
FileReport verify_trace_bytes(std::string_view bytes, const std::string& path);
/// What only several files of one window show: one base, distinct ranks, same steps, same spec. Adds to the reports.
void verify_together(std::vector<FileReport>& reports);

/// What the traces of a run have in common with one another, for [check].
struct TracesSeen {
  std::uint64_t files = 0, incomplete_files = 0, dropped = 0;
  int world_size = -1;  // -1 = no trace says it
  std::vector<int> ranks;
};
/// min_traces, ranks or complete of [check].
struct TraceRule {
  std::string key;            // "check.ranks"
  std::optional<bool> holds;  // nothing = the traces do not tell
  std::string sentence;
  std::vector<int> missing;  // ranks
};
/// Those of [check] that are set.
std::vector<TraceRule> check_traces(const Spec& spec, const TracesSeen& seen);

/// "0-3, 6"
std::string rank_list(const std::vector<int>& ranks);
/// "rank 2", "ranks 0-3, 6"
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace profshim
