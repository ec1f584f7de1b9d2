// profshim summary --mpi: the calls of MPI by function. Bytes are those of the caller's own buffer. The share is of the
// time from the first event of a trace to its last one; calls on several threads at a time can be more than all of it.
// What non-blocking operations did between their calls is not in it. Polls that the trace tells as one event ("MPI
// polling") are counted one by one, with the time that they spent in MPI.
#pragma once

#include <map>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

class MpiView {
 public:
  void add(const Timeline& timeline, int rank);
  View finish();

 private:
  struct Row {
    std::int64_t calls = 0, max_ns = 0;
    double total_ns = 0, bytes = 0;
    bool has_bytes = false, has_max = true;  // of polls the longest is not known
    void add(const Row& other);
  };
  struct RankRows {
    std::map<TextId, Row> rows;
    double window_ns = 0;
  };

  Texts names_;
  std::map<int, RankRows> ranks_;
};

}  // namespace profshim::analysis_detail
