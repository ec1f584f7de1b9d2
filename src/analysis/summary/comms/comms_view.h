// profshim summary --comms: collectives and messages by group and function.
//
// As in nccl-tests, the size is the larger of a rank's input and output, algorithm bandwidth = size / time, and bus
// bandwidth = algorithm bandwidth * bus_factor(). Times include waits. There is no bandwidth if the call only starts
// the collective, or if ranks send different amounts (MPI_Allgatherv).
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
  /// A collective that waits for all ranks, with finished, blocking calls on several ranks.
  struct Instance {
    std::string_view group, function;
    std::int64_t number = -1;                                 // sequence number; -1 = none
    std::int64_t begin_ns = 0;                                // earliest of the ranks, each by its clock
    int last = -1;                                            // last rank to enter; -1 = not certain
    std::span<const std::pair<int, std::int64_t>> waited_ns;  // rank, nanoseconds that it waited
  };
  using Observer = std::function<void(const Instance&)>;
  /// finish() calls `observe`, group by group. An instance is valid only during that call.
  explicit CommsView(Observer observe = {}) : observe_(std::move(observe)) {}
  void add(const Timeline& timeline, int rank);
  View finish();

 private:
  Observer observe_;
  CommsCalls calls_;
};

}  // namespace profshim::analysis_detail
