// The members of a trace besides its events. A member with an impossible value counts as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profshim {

/// See CpuUse (profshim/cpu_use.h).
struct RecordedCpu {
  double measured_us = 0, waited_us = 0, process_us = 0, machine_us = 0, stolen_us = 0, cpus = 0;
};

/// The "profshim" object of a trace.
struct RecordingInfo {
  std::string run_name, command, spec_hash, role;
  std::string steps_source, first_step_marker;
  int node_rank = -1;
  std::optional<std::int64_t> window;
  std::string phase;  // the window is an occurrence of this phase; "" = a window of steps
  std::int64_t occurrence = 0, first_tick = 0;
  bool complete = true;    // nothing is in `missing`
  bool truncated = false;  // a limit of the spec closed the window
  bool recovered = false;  // written by `profshim recover`
  std::uint64_t dropped = 0;
  std::uint64_t left_out = 0;  // events that capture.include, exclude and min_us keep out of the trace
  /// Numbers of losses, by path: "device.lost_in_process", 2.
  std::vector<std::pair<std::string, std::int64_t>> losses;
  std::vector<std::string> problems;
  /// See missing_in() (profshim/trace/completeness.h). In traces without the list, from the counts.
  std::vector<std::string> missing;
  std::optional<RecordedCpu> cpu;
};

/// A rank of a merged trace: an element of "merged".
struct MergedRankInfo {
  int rank = -1;
  std::string host, clock;     // clock: see MergedRank (profshim/analysis/merge.h)
  std::int64_t first_pid = 0;  // lowest pid of this rank
  double offset_us = 0, drift_ppm = 0;
  double error_us = -1;                    // < 0: unknown
  std::optional<RecordingInfo> recording;  // of the rank's own trace
};

struct TraceMetadata {
  /// Largest accepted time: three such times can be added in 64 bits.
  static constexpr std::int64_t kMaxNs = 3'000'000'000'000'000'000;
  /// False for times so large that sums overflow.
  static constexpr bool is_possible(std::int64_t ns) { return ns >= -kMaxNs && ns <= kMaxNs; }
  /// In a trace without base time, times count from 1970 (older Kineto) or from boot. Later than 2001 means from 1970.
  static constexpr bool is_time_of_day(std::int64_t ns) { return ns > 1'000'000'000'000'000'000; }

  std::int64_t base_time_ns = 0;  // 0 = absent; at most kMaxNs
  std::string host;
  bool profile_memory = false;
  std::vector<std::string> devices;  // elements of deviceProperties, as JSON

  // Members of distributedInfo.
  int rank = -1, world_size = -1;
  std::string backend;
  struct Group {
    std::string name;
    std::int64_t size = -1;
    std::vector<std::int64_t> ranks;
    bool has_same_members(const Group& other) const { return size == other.size && ranks == other.ranks; }
  };
  std::vector<Group> groups;  // pg_config

  std::string profshim;                    // as JSON; "" in traces of other tools
  std::optional<RecordingInfo> recording;  // contents of `profshim`
  std::vector<MergedRankInfo> merged;      // empty if not merged

  /// Parses one top-level member, as passed to TraceVisitor::metadata. Ignores unknown members.
  void read(std::string_view key, std::string_view json);
};

}  // namespace profshim
