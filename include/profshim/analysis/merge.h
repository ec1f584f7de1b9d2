// Merges the traces of several ranks into one trace on one clock: profshim merge. Tool only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace profshim {

/// How the difference between two clocks is determined.
enum class ClockSync : std::uint8_t {
  kCollective,  // from collectives, messages and RPC requests that both ranks took part in; without any, as kAnchors
  kAnchors,     // both clocks are the wall clocks of their hosts
  kNone,        // as kAnchors, but times need not be wall-clock times
};

struct MergeOptions {
  std::vector<std::string> paths;
  std::string out;  // gzip when it ends in .gz
  ClockSync sync = ClockSync::kCollective;
  /// Uses the times of traces that share no clock with the others unchanged, instead of failing.
  bool assume_clock = false;
  /// Called from time to time with the finished part, from 0 to 1. Several threads call it, one at a time.
  std::function<void(double done)> on_progress;
};

struct MergedRank {
  std::string path, host;
  int rank = -1;
  std::int64_t first_pid = 0;  // GPU n has the pid first_pid + n; processes follow
  std::string clock;           // "reference", "same host", "collectives", "anchors", "assumed"
  std::uint64_t moments = 0;   // bounds of the clock difference, from events shared with another rank
  double offset_us = 0;        // added to its times at offset_at_ns (its own clock)
  std::int64_t offset_at_ns = 0;
  double drift_ppm = 0;  // growth of the offset, microseconds per second
  double error_us = -1;  // upper bound of the error against the reference; < 0 = unknown
  std::uint64_t events = 0;
};

struct MergeResult {
  std::string error;  // one line; "" = done
  std::vector<MergedRank> ranks;
  std::vector<std::string> warnings;
  bool truncated = false;  // a file ends early; the events before its end are merged
  std::uint64_t events = 0, bytes = 0;
  std::uint64_t messages = 0, collectives = 0, requests = 0;  // with arrows
  std::uint64_t messages_left_out = 0;                        // without: sends and receives differ in number
};

/// Reads every file twice. Memory use: about 40 bytes for each event that ranks share. Errors are in the result.
MergeResult merge_traces(const MergeOptions& options);

}  // namespace profshim
