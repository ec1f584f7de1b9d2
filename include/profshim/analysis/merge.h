// Merges the traces of several ranks into one trace on one clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profshim/spec.h"

namespace profshim {

struct MergeOptions {
  std::vector<std::string> paths;
  std::string out;  // gzip if it ends in .gz
  ClockSync sync = ClockSync::kCollective;
  /// Keeps times that are not wall-clock times, instead of failing.
  bool assume_clock = false;
  /// Called with the finished part, 0 to 1, on several threads, but one call at a time.
  std::function<void(double done)> on_progress;
};

struct MergedRank {
  std::string path, host;
  int rank = -1;
  std::int64_t first_pid = 0;  // GPU n has the pid first_pid + n; processes have higher pids
  std::string clock;           // "reference", "same host", "collectives", "anchors", "assumed"
  std::uint64_t moments = 0;   // number of bounds on its clock from shared events
  double offset_us = 0;        // added to its times, at offset_at_ns of its own clock
  std::int64_t offset_at_ns = 0;
  double drift_ppm = 0;
  double error_us = -1;  // upper bound of the offset's error; < 0 = unknown
  std::uint64_t events = 0;
};

struct MergeResult {
  std::string error;  // one line; "" = success
  std::vector<MergedRank> ranks;
  std::vector<std::string> warnings;
  bool truncated = false;
  std::uint64_t events = 0, bytes = 0;
  std::uint64_t messages = 0, collectives = 0, requests = 0;  // drawn as arrows
  std::uint64_t messages_left_out = 0;                        // not drawn: sends and receives differ in number
};

MergeResult merge_traces(const MergeOptions& options);

}  // namespace profshim
