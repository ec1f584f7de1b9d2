// profshim summary --phases: the phases of the spec ([[phase]]), with the calls and device activity inside. A phase
// includes the phases inside it.
#pragma once

#include <map>

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
    void add(const Row& other);
  };
  using Rows = std::map<TextId, Row>;

  Texts names_;
  std::map<int, Rows> ranks_;
};

}  // namespace profshim::analysis_detail
