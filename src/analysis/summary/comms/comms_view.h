// profshim summary --comms: collectives and messages of NCCL, gloo (record_param_comms) and MPI, by group and function.
// collect_calls.h says which events count, match_calls.h how the calls of several ranks become one collective.
//
// Sizes and bandwidths are those of nccl-tests: the size is what a rank holds before or after, whichever is more (for
// an allgather, the data of all ranks); the algorithm bandwidth is size / time, the bus bandwidth is that times the
// factor of the function (profshim/trace/bus_factor.h). The time includes waiting for other ranks. There is no
// bandwidth if the call only starts the work (a host call of NCCL), or if ranks send different amounts and a trace
// knows only its own (MPI_Allgatherv).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"
#include "calls.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

class CommsView {
 public:
  /// One collective that no rank leaves before all have entered, and whose calls can be compared.
  struct Instance {
    std::string_view group, function;
    std::int64_t number = -1;                                 // sequence number; -1 = it has none
    std::int64_t begin_ns = 0;                                // when the first rank entered, by that rank's clock
    int last = -1;                                            // the rank that came last; -1 = not certain
    std::span<const std::pair<int, std::int64_t>> waited_ns;  // ranks and how long each waited
  };
  using Observer = std::function<void(const Instance&)>;
  /// finish() calls `observe` for each instance, group by group, in order. The instance is valid during the call.
  explicit CommsView(Observer observe = {}) : observe_(std::move(observe)) {}
  void add(const Timeline& timeline, int rank);
  View finish();

 private:
  Observer observe_;
  CommsCalls calls_;
};

}  // namespace profshim::analysis_detail
