// Checks that traces which are analyzed together are of one job.
#pragma once

#include <map>
#include <string>

#include "timeline.h"

namespace profshim::analysis_detail {

class OneJob {
 public:
  /// Throws std::runtime_error with one line that names two files if the trace is of another job than those before.
  void add(const Timeline& timeline);

 private:
  struct Seen {
    std::string path, run_name;
    int world_size = -1;
  };
  std::map<std::string, Seen> runs_;  // by host: if the job has no id, each host makes up a run name
  Seen sized_;                        // the first trace with a world size
};

}  // namespace profshim::analysis_detail
