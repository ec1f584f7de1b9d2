// Divides the traces of one launch into its groups of processes: trainers, rollout engines, jobs of their own that one
// program starts. Ranks of two groups are unrelated: both may have a rank 0.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace profshim {

/// A trace as its head and its place describe it.
struct TraceHead {
  std::string path, host, run_name, role;
  int world_size = -1;
  std::set<int> ranks;  // of a merged trace several
  std::string folder;   // run folder; "" = unknown
  std::string launch;   // words, see are_of_one_launch(); "" = unknown
};
/// Reads up to the first event. Leaves `folder` and `launch` empty. A file that is no trace has a path only.
TraceHead read_trace_head(const std::string& path);

struct TraceGroup {
  std::string role, run_name, folder;
  int world_size = -1;
  std::set<int> ranks;
  std::vector<std::string> paths;
  /// "Trainer, ranks 0-1 of 2"
  std::string title() const;
};

/// True if each launch has a word in common with another one, and all are connected so. An unknown launch ("") is not.
bool are_of_one_launch(const std::set<std::string>& launches);

/// Returns one group if the traces are not known to be of one launch; `several_runs` divides them all the same. Never
/// returns an empty list.
std::vector<TraceGroup> group_traces(const std::vector<TraceHead>& traces, bool several_runs = false);

/// True if `a` comes before `b` in a list of run folders: "run" before "run-2" before "run-10".
bool is_earlier_folder(const std::string& a, const std::string& b);

}  // namespace profshim
