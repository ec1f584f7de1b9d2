// Who waited for whom. At each collective that nobody leaves before all have come, a rank waited for its own duration
// less the least of all (as summary --comms has it, src/analysis/summary/comms_view.h); that time is put down to the
// rank that came last. No clock but each rank's own is in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/summary/comms/comms_view.h"
#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

class Waits {
 public:
  void add(const CommsView::Instance& instance);
  /// Plots, heat maps and the table of the ranks; sorts what was added. Nothing where ranks have met nowhere.
  void fill(ReportSection& section);
  /// Who was late, if somebody stands out. `window_us`: how long a rank was watched, on the average.
  void judge(double window_us, std::vector<ReportFinding>& verdict) const;

 private:
  struct Rank {
    std::int64_t met = 0, last = 0;  // collectives; those at which it came last
    double waited_us = 0, caused_us = 0;
  };
  struct Instance {
    std::int64_t begin_ns = 0, number = -1;
    std::uint32_t name = 0, first = 0, count = 0;  // in names_, waits_
  };
  ReportHeatMap between_ranks() const;
  ReportHeatMap along_time(std::vector<std::string>& notes) const;
  std::vector<int> ranks_to_show(std::size_t most) const;

  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> name_ids_;
  std::vector<Instance> instances_;
  std::vector<std::pair<int, double>> waits_;  // rank, microseconds
  std::map<int, Rank> ranks_;
  std::map<std::pair<int, int>, double> pairs_;  // who waited for whom, microseconds
  std::int64_t uncertain_ = 0;                   // at which two came last alike
  double total_us_ = 0;
};

}  // namespace profshim::analysis_detail
