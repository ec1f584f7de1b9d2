#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"

namespace profshim::analysis_detail {

/// Ids of CommsCalls::texts. The group is unknown if both are 0.
struct CommsGroupKey {
  TextId name = 0, ranks = 0;
  auto operator<=>(const CommsGroupKey&) const = default;
};

struct CommsGroup {
  TextId label = 0;
  std::int64_t size = -1;
  std::map<int, std::pair<std::int64_t, std::int64_t>> sequences;  // each rank's first and last sequence number
};

struct CommsCall {
  std::int64_t sequence = -1, begin_ns = 0, duration_ns = 0, bytes = -1;
  int rank = -1;
  bool unfinished = false, asynchronous = false;
  std::int64_t occurrence = 0;  // counts the rank's calls with this sequence, from 0
};

struct CommsRowKey {
  CommsGroupKey group;
  TextId function = 0;
  bool on_device = false;
  bool only_starts = false;  // the call returns before the operation is done
  auto operator<=>(const CommsRowKey&) const = default;
};

struct CommsRank {
  std::int64_t last_ns = 0;
  bool incomplete = false;
  bool lossy = false;  // events are missing
};

struct CommsCalls {
  Texts texts;
  std::map<CommsGroupKey, CommsGroup> groups;
  std::map<CommsRowKey, std::vector<CommsCall>> rows;
  std::map<int, CommsRank> ranks;
  int world_size = -1;

  /// A label contains the ranks if another group has the same name.
  std::map<CommsGroupKey, std::string> group_labels() const;
};

// Adds each collective and message of one file once:
//  * a collective kernel ("device");
//  * an operator without a kernel: the work range of the backend (gloo:all_reduce, "host") if all operators of the
//    function have one, or else the operator itself ("host, starts it");
//  * an MPI collective up to its completion ("host").

void collect_calls(CommsCalls& calls, const Timeline& timeline, int rank);

}  // namespace profshim::analysis_detail
