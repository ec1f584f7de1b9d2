// Members of a trace beside its events, read with the same bounds by all readers. A member with an impossible value
// counts as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profshim {

/// CPU use during the window; sums in microseconds.
struct RecordedCpu {
  double measured_us = 0, waited_us = 0, process_us = 0, machine_us = 0, stolen_us = 0, cpus = 0;
};

/// The "profshim" object.
struct RecordingInfo {
  std::string run_name, command, spec_hash;
  std::string steps_source, first_step_marker;
  std::optional<std::int64_t> window;  // number in the run
  bool complete = true;                // false: the end of the job cut the window
  bool truncated = false;              // a limit of the spec closed the window
  bool recovered = false;              // made by profshim recover
  std::uint64_t dropped = 0;           // events
  /// Path and count: "device.lost_in_process", 2.
  std::vector<std::pair<std::string, std::int64_t>> losses;
  std::vector<std::string> problems;  // one sentence each: cost of the problem
  std::optional<RecordedCpu> cpu;
};

/// Rank of a merged trace: element of "merged".
struct MergedRankInfo {
  int rank = -1;
  std::string host, clock;     // clock: see MergedRank (profshim/analysis/merge.h)
  std::int64_t first_pid = 0;  // lowest pid of its processes; the next rank's are higher
  double offset_us = 0, drift_ppm = 0;
  double error_us = -1;                    // < 0: unknown
  std::optional<RecordingInfo> recording;  // of the rank's own trace
};

struct TraceMetadata {
  /// Below this bound, sums of three times stay in 64 bits.
  static constexpr std::int64_t kMaxNs = 3'000'000'000'000'000'000;
  /// Returns true if `ns` without a base can only be a time of day: after 2001, so no boot clock. Kineto wrote such
  /// times before it had a base.
  static constexpr bool is_time_of_day(std::int64_t ns) { return ns > 1'000'000'000'000'000'000; }

  std::int64_t base_time_ns = 0;  // 0: not given; at most kMaxNs
  std::string host;
  bool profile_memory = false;
  std::vector<std::string> devices;  // JSON objects of deviceProperties

  // distributedInfo
  int rank = -1, world_size = -1;
  std::string backend;
  struct Group {
    std::string name;
    std::int64_t size = -1;
    std::vector<std::int64_t> ranks;
    bool has_same_members(const Group& other) const { return size == other.size && ranks == other.ranks; }
  };
  std::vector<Group> groups;  // pg_config

  std::string profshim;                    // JSON; "" in traces of others
  std::optional<RecordingInfo> recording;  // `profshim`, parsed
  std::vector<MergedRankInfo> merged;      // empty if not merged

  /// Takes one top-level member, value as compact JSON (TraceVisitor::metadata). Ignores unknown members.
  void read(std::string_view key, std::string_view json);
};

}  // namespace profshim
