// Matches the calls of several ranks that are one collective: the same group, function and sequence number. Without
// numbers, the order counts, if all ranks have the same number of calls. Not for messages, for calls that only start
// the work, and for unknown groups.
//
// A rank waited for its own duration minus the shortest of all ranks. The rank with the shortest came last if no rank
// can leave that collective before all have entered.
//
// "Rank 6 never entered" holds if: other ranks are still in the collective at the end of their traces; no rank that
// would have had to wait for rank 6 has left; and rank 6's trace, which lost nothing, does not have the call.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "comms_view.h"

namespace profshim::analysis_detail {

/// CommsCall match() for each row, then add_absent_notes() once.
class CallMatcher {
 public:
  /// `calls` and `labels` (by group) must outlive it. `observe` may be empty.
  CallMatcher(const CommsCalls& calls, const std::map<CommsGroupKey, std::string>& labels,
              const CommsView::Observer& observe);

  /// Sorts `row`.
  void match(const CommsRowKey& key, std::vector<CommsCall>& row);
  /// Adds a note for each rank whose traces lack calls between its first and its last.
  void add_absent_notes();

  ViewTable waits, never_entered;
  std::vector<std::string> notes;

 private:
  struct Waits {
    std::vector<std::int64_t> durations_ns;
    std::int64_t last = 0;  // collectives at which the rank came last
  };
  struct Absent {
    std::int64_t count = 0, first_sequence = 0;
  };

  bool number_occurrences(const CommsRowKey& key, std::vector<CommsCall>& row, bool numbered);
  void add_instance(const CommsRowKey& key, const CommsCall* begin, const CommsCall* end, std::map<int, Waits>& waits);
  void observe_instance(const CommsRowKey& key, const CommsCall* begin, const CommsCall* end, const CommsCall& shortest,
                        bool is_certain);
  void add_missing_ranks(const CommsRowKey& key, const CommsCall* begin, const CommsCall* end,
                         const std::set<int>& members);
  void add_waits(const CommsRowKey& key, const std::map<int, Waits>& waits);
  std::set<int> members_with_traces(const CommsGroupKey& key) const;

  const CommsCalls& calls_;
  const std::map<CommsGroupKey, std::string>& labels_;
  const CommsView::Observer& observe_;
  std::map<std::pair<CommsRowKey, int>, Absent> absent_;  // by row and rank
};

}  // namespace profshim::analysis_detail
