// profshim summary --mpi: calls by function. Bytes are the rank's own buffers. Shares are of the time from first to
// last event; with several threads they may exceed 100 %. The time between the calls of a non-blocking operation does
// not count.
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
    bool has_bytes = false, has_max = true;  // has_max: false for polls
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
