#pragma once

#include <map>
#include <string>

#include "timeline.h"

namespace profshim::analysis_detail {

class OneJob {
 public:
  /// Throws std::runtime_error if the trace is of another job than an earlier trace.
  void add(const Timeline& timeline);

 private:
  struct Seen {
    std::string path, run_name;
    int world_size = -1;
  };
  std::map<std::string, Seen> runs_;  // by host: each host may make its own run name
  Seen sized_;                        // first trace with a world size
};

}  // namespace profshim::analysis_detail
