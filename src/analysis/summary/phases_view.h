// profshim summary --phases: the phases of the spec ([[phase]]), with the calls and device activity inside. A phase
// includes the phases inside it. Its share is that of the whole steps.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

class PhasesView {
 public:
  void add(const Timeline& timeline, int rank);
  View finish();

 private:
  struct Row {
    std::int64_t occurrences = 0, longest_ns = 0, calls = 0, activities = 0;
    double total_ns = 0, device_ns = 0;
    double in_steps_ns = 0;  // part of total_ns
    // These counts cover whole occurrences only. Later parts of a generator add to `sums`, not to `counted`.
    std::array<double, kPerfCounters> sums{};
    std::array<std::int64_t, kPerfCounters> counted{};
    double percents = 0;
    std::int64_t estimated = 0;  // occurrences that have a percentage
    void add(const Row& other);
    void add(const CountedPhase& phase);
    Counted means() const;
  };
  using Rows = std::map<TextId, Row>;
  struct RankRows {
    Rows rows;
    double steps_ns = 0;
  };
  static void append(const Cell& rank, const RankRows& of, const Texts& names, ViewTable& table,
                     std::vector<Counted>& means);

  Texts names_;
  std::map<int, RankRows> ranks_;
};

}  // namespace profshim::analysis_detail
