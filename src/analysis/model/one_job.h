// Traces that are put together must be of one job.
#pragma once

#include <map>
#include <string>

#include "timeline.h"

namespace profshim::analysis_detail {

class OneJob {
 public:
  /// Throws std::runtime_error with one line, that names two files, for a trace of another job than those before.
  void add(const Timeline& timeline);

 private:
  struct Seen {
    std::string path, run_name;
    int world_size = -1;
  };
  std::map<std::string, Seen> runs_;  // by host: hosts without a number in common name their runs themselves
  Seen sized_;                        // the first that says how many ranks there are
};

}  // namespace profshim::analysis_detail
