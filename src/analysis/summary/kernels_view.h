// profshim summary --kernels: device activity by name. Activity on two streams at once counts twice, as in PyTorch's
// "Self CUDA time total".
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

class KernelsView {
 public:
  void add(const Timeline& timeline, int rank);
  View finish();

 private:
  struct Row {
    TextId name = 0;
    Kind kind = Kind::kOther;
    std::vector<std::int64_t> durations_ns;
  };
  void append_rank(ViewTable& table, ViewTable& totals, const Cell& rank, const std::vector<Row>& rows);

  Texts names_;
  std::map<int, std::map<std::pair<TextId, Kind>, Row>> ranks_;
};

}  // namespace profshim::analysis_detail
