// Matches the ranks' calls by group, function and sequence number. Without numbers, matches them by order if all ranks
// have equally many calls. Skips messages, calls that only start the operation, and unknown groups.
//
// A rank's wait is its duration minus the shortest, that of the last rank to enter.
//
// "Rank 6 never entered" means: other ranks are in the collective at the end of their traces, no rank that must wait
// for rank 6 has left, and the trace of rank 6 is lossless, reaches their entry (or is incomplete), and has neither
// this call nor a later one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calls.h"
#include "comms_view.h"

namespace profshim::analysis_detail {

/// Call match() for each row, then add_absent_notes().
class CallMatcher {
 public:
  CallMatcher(const CommsCalls& calls, const std::map<CommsGroupKey, std::string>& labels,
              const CommsView::Observer& observe);

  void match(const CommsRowKey& key, std::vector<CommsCall>& row);
  void add_absent_notes();

  ViewTable waits, never_entered;
  std::vector<std::string> notes;

 private:
  struct Waits {
    std::vector<std::int64_t> durations_ns;
    std::int64_t last = 0;
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
  std::map<std::pair<CommsRowKey, int>, Absent> absent_;
};

}  // namespace profshim::analysis_detail
