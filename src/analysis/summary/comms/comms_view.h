// profshim summary --comms: collectives and messages of NCCL, gloo (record_param_comms) and MPI, by group and function.
//
// What is counted, each once: a collective kernel ("device"), with the arguments of the operator of its External id
// where it has none itself; an operator that has no such kernel, with the time of the range in which its backend does
// the work ("host": gloo:all_reduce), where every operator of that function has one, else with its own, in which it
// only starts the work ("host, starts it"); a collective of MPI, where it is non-blocking from its call to its
// completion
// ("host"). Messages of MPI are in --mpi.
//
// Sizes and bandwidths are those of nccl-tests: the size is what a rank holds before or after, whichever is more (for
// an allgather what all send together); the algorithm bandwidth is size / time; the bus bandwidth is that times
// 2(n-1)/n for an allreduce, (n-1)/n for allgather, reduce_scatter, alltoall, gather and scatter, 1 for broadcast,
// reduce and messages. Time waited for others is in it. No bandwidth where the call only starts the work (a host call
// of NCCL), or where ranks send different amounts of which one trace knows only its own (MPI_Allgatherv).
//
// Calls of several ranks are one collective if they have the same group, function and sequence number; without numbers,
// by their order, when all ranks have equally many (not where the call only starts the work, or the group is unknown).
// A rank waited for its own duration less the least of all ranks; who had the least came last, if nobody can leave that
// collective before all have come.
//
// "Rank 6 never entered": others are still in it at the end of their traces, nobody who would have had to wait for rank
// 6 has left, and rank 6's trace, that lost nothing, has not got it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

class CommsView {
 public:
  /// One collective that nobody leaves before all have come, and whose calls can be compared.
  struct Instance {
    std::string_view group, function;
    std::int64_t number = -1;                                 // its sequence number, where it has one
    std::int64_t begin_ns = 0;                                // when the first rank entered, by that rank's clock
    int last = -1;                                            // the rank that came last; -1 = not certain
    std::span<const std::pair<int, std::int64_t>> waited_ns;  // of each rank
  };
  using Observer = std::function<void(const Instance&)>;
  /// `observe` is told of each during finish(), group by group, in order.
  explicit CommsView(Observer observe = {}) : observe_(std::move(observe)) {}
  void add(const Timeline& timeline, int rank);
  View finish();

 private:
  struct GroupKey {
    TextId name = 0, ranks = 0;
    auto operator<=>(const GroupKey&) const = default;
  };
  struct Group {
    TextId label = 0;
    std::int64_t size = -1;
    std::map<int, std::pair<std::int64_t, std::int64_t>> numbers;  // of each rank, the first and the last it has
  };
  struct Call {
    std::int64_t sequence = -1, begin_ns = 0, duration_ns = 0, bytes = -1;
    int rank = -1;
    bool unfinished = false, asynchronous = false;
    std::int64_t occurrence = 0;  // of that number on that rank
  };
  struct RowKey {
    GroupKey group;
    TextId function = 0;
    bool on_device = false, only_starts = false;
    auto operator<=>(const RowKey&) const = default;
  };
  struct RankFacts {
    std::int64_t last_ns = 0;
    bool cut = false;    // the end of the job cut its window
    bool lossy = false;  // lost events, or may have
  };
  struct Waits {
    std::vector<std::int64_t> durations_ns;
    std::int64_t last = 0;
  };
  struct Output;

  void add_row(const RowKey& key, std::vector<Call>& calls, Output& out);
  void match(const RowKey& key, std::vector<Call>& calls, Output& out);
  void add_instance(const RowKey& key, const Call* begin, const Call* end, const Output& out,
                    std::map<int, Waits>& waits);
  void add_missing(const RowKey& key, const Call* begin, const Call* end, const std::set<int>& members, Output& out);
  std::set<int> members_with_traces(const GroupKey& key) const;

  Observer observe_;
  Texts texts_;
  std::map<GroupKey, Group> groups_;
  std::map<RowKey, std::vector<Call>> rows_;
  std::map<int, RankFacts> ranks_;
  int world_size_ = -1;
};

}  // namespace profshim::analysis_detail
