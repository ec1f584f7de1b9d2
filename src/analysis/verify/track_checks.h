// Checklist items (checklist.cpp) about tracks: nesting, steps, b/e pairs. Events may come in any order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "findings.h"

namespace profshim::analysis_detail {

class TrackChecks {
 public:
  void on_event(const ReadEvent& event);
  /// Returns the numbers of the ProfilerSteps in order of time; in a merged trace, those of the first process.
  std::vector<std::int64_t> finish(Findings& findings, bool merged);

 private:
  struct Slice {
    std::int64_t begin_ns, end_ns;
    std::uint64_t offset;
  };
  struct AsyncEnd {
    std::uint64_t key;
    std::int64_t ts_ns;
    std::uint64_t offset : 63, ends : 1;
  };
  struct Step {
    std::int64_t number;
    Slice slice;
    std::uint64_t track;
    std::int64_t process;  // 0 except in merged traces
  };
  struct Track {
    std::vector<Slice> slices;
    bool gpu = false;  // a GPU stream: item 24 does not apply
  };
  static void check_nesting(Track& track, Findings& findings);
  void check_async(Findings& findings);
  std::vector<std::int64_t> check_steps(Findings& findings, bool merged);

  std::map<std::uint64_t, Track> tracks_;
  std::vector<AsyncEnd> async_;
  std::vector<Step> steps_;
  std::uint64_t misnamed_steps_ = 0;
  std::string misnamed_where_;
  bool gpu_steps_ = false;
};

std::uint64_t track_of(const ReadEvent& event);

}  // namespace profshim::analysis_detail
