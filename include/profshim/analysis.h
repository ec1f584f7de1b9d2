// Checks traces for `profshim verify` and a spec's [check].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/spec.h"

namespace profshim {

/// A broken item of the checklist for Kineto traces.
struct Finding {
  int item = 0;  // number in src/analysis/verify/checklist.cpp
  /// True = an error: breaks a consumer, or a promise of profshim's own traces. False = a note.
  bool must = true;
  std::string breaks;  // the consumers that stop or leave events out: "HTA"; "" = none
  std::string message;
  std::uint64_t count = 1;  // events that break the item
};
struct FileReport {
  std::string path;
  bool readable = false;
  bool ours = false;  // has the object "profshim"
  std::string error;
  int rank = -1;
  std::uint64_t events = 0;
  std::vector<std::int64_t> steps;  // N of ProfilerStep#N
  bool complete = true, truncated = false;
  std::vector<std::string> missing;  // see missing_in() (profshim/trace/completeness.h)
  bool merged = false;
  std::uint64_t dropped = 0;
  int world_size = -1;
  std::int64_t base_time_ns = 0;
  std::string spec_hash;               // "" in traces of other tools
  std::string phase;                   // "actor 3": occurrence 3 of this phase; "" = a window of steps
  std::optional<std::int64_t> window;  // as the rank counts its windows; unknown in traces of other tools
  std::vector<Finding> findings;
  bool conforms() const;  // readable, and no error
};
FileReport verify_trace(const std::string& path);
/// For tests and fuzzing: `path` is only a name.
FileReport verify_trace_bytes(std::string_view bytes, const std::string& path);
/// Adds findings if files of one window differ in base time, steps or spec, or have the same rank.
void verify_together(std::vector<FileReport>& reports);

struct TracesSeen {
  std::uint64_t files = 0, incomplete_files = 0, dropped = 0;
  std::uint64_t lost_windows = 0;  // asked for by the schedule, but without a trace
  int world_size = -1;             // -1 = unknown
  std::vector<int> ranks;
};
/// The result of one key of [check].
struct TraceRule {
  std::string key;
  std::optional<bool> holds;  // nullopt = unknown
  std::string sentence;
  std::vector<int> missing;
};
std::vector<TraceRule> check_traces(const Spec& spec, const TracesSeen& seen);

/// Returns "0-3, 6".
std::string rank_list(const std::vector<int>& ranks);
/// Returns "rank 2" or "ranks 0-3, 6".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace profshim
