#pragma once

#include <map>
#include <string>

#include "timeline.h"

namespace profshim::analysis_detail {

class OneJob {
 public:
  struct Trace {
    std::string path, host, run_name;  // run_name: "" = unknown
    int world_size = -1;
  };
  /// Throws std::runtime_error if the trace is of another job than an earlier trace.
  void add(const Trace& trace);
  void add(const Timeline& timeline);

 private:
  std::map<std::string, Trace> runs_;  // by host: without a job id, each host makes its own run name
  Trace sized_;                        // first trace with a world size
};

}  // namespace profshim::analysis_detail
