// Traces of several ranks as one, on one clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace profshim {

/// From where the difference of two clocks is known.
enum class ClockSync : std::uint8_t {
  kCollective,  // from collectives, messages and requests that both ranks took part in; where there are none: kAnchors
  kAnchors,     // both are the time of the day, as their hosts have it
  kNone,        // as kAnchors, and it need not be the time of the day
};

struct MergeOptions {
  std::vector<std::string> paths;
  std::string out;  // gzip when it ends in .gz
  ClockSync sync = ClockSync::kCollective;
  /// Times of traces that have no clock in common with the others are taken as they are.
  bool assume_clock = false;
  /// Told from time to time how much is done, from 0 to 1.
  std::function<void(double done)> on_progress;
};

struct MergedRank {
  std::string path, host;
  int rank = -1;
  std::int64_t first_pid = 0;  // GPU n has the number n above; processes come behind those
  std::string clock;           // "reference", "same host", "collectives", "anchors", "assumed"
  std::uint64_t moments = 0;   // shared with the rank that it was compared with
  double offset_us = 0;        // added to its times at offset_at_ns, of its own clock
  std::int64_t offset_at_ns = 0;
  double drift_ppm = 0;  // and so much more for each second since
  double error_us = -1;  // its times are not further off than this against the reference; < 0: not known
  std::uint64_t events = 0;
};

struct MergeResult {
  std::string error;  // one line; "" = done
  std::vector<MergedRank> ranks;
  std::vector<std::string> warnings;
  bool truncated = false;  // a file ends early: what is there is merged
  std::uint64_t events = 0, bytes = 0;
  std::uint64_t messages = 0, collectives = 0, requests = 0;  // that have arrows
  std::uint64_t messages_left_out = 0;                        // as many sent as received is not what the traces show
};

/// Reads every file twice and holds none; what it holds are the moments that ranks share, some 40 bytes each.
MergeResult merge_traces(const MergeOptions& options);

}  // namespace profshim
