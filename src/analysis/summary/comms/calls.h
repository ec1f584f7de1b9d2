// The collectives and messages of all files, each once, by row of the view.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"

namespace profshim::analysis_detail {

/// Identifies a group of ranks; texts of CommsCalls. Both 0 = unknown.
struct CommsGroupKey {
  TextId name = 0, ranks = 0;
  auto operator<=>(const CommsGroupKey&) const = default;
};

struct CommsGroup {
  TextId label = 0;
  std::int64_t size = -1;
  std::map<int, std::pair<std::int64_t, std::int64_t>> sequences;  // of each rank: first and last sequence number
};

/// One call of one rank.
struct CommsCall {
  std::int64_t sequence = -1, begin_ns = 0, duration_ns = 0, bytes = -1;
  int rank = -1;
  bool unfinished = false, asynchronous = false;
  std::int64_t occurrence = 0;  // counts calls of the rank with the same sequence number
};

struct CommsRowKey {
  CommsGroupKey group;
  TextId function = 0;
  bool on_device = false;
  bool only_starts = false;  // a host call that returns before the operation is done
  auto operator<=>(const CommsRowKey&) const = default;
};

/// State of the traces of one rank.
struct CommsRank {
  std::int64_t last_ns = 0;  // end of the last event
  bool incomplete = false;   // the end of the job cut a window
  bool lossy = false;        // events are missing: dropped, or behind the end of a file that ends early
};

struct CommsCalls {
  Texts texts;
  std::map<CommsGroupKey, CommsGroup> groups;
  std::map<CommsRowKey, std::vector<CommsCall>> rows;
  std::map<int, CommsRank> ranks;
  int world_size = -1;

  /// Returns the names of the groups for people. Groups with the same name are told apart by their ranks.
  std::map<CommsGroupKey, std::string> group_labels() const;
};

}  // namespace profshim::analysis_detail
