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
  void fill(ReportSection& section);
  /// `window_us`: mean recorded time of a rank.
  void judge(double window_us, std::vector<ReportFinding>& verdict) const;

 private:
  struct Rank {
    std::int64_t met = 0, last = 0;  // collectives of the rank; collectives that it entered last
    double waited_us = 0, caused_us = 0;
  };
  struct Instance {
    std::int64_t begin_ns = 0, number = -1;
    std::uint32_t name = 0, first = 0, count = 0;
  };
  ReportHeatMap between_ranks() const;
  ReportHeatMap along_time(std::vector<std::string>& notes) const;
  std::vector<int> ranks_to_show(std::size_t most) const;

  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> name_ids_;
  std::vector<Instance> instances_;
  std::vector<std::pair<int, double>> waits_;  // rank, microseconds
  std::map<int, Rank> ranks_;
  std::map<std::pair<int, int>, double> pairs_;  // (waiting, last rank) -> microseconds
  std::int64_t uncertain_ = 0;                   // collectives that several ranks entered last
  double total_us_ = 0;
};

}  // namespace profshim::analysis_detail
