#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/machine_load.h"
#include "analysis/model/timeline.h"
#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// A rank's clock compared with the first rank's clock.
struct RankClock {
  int rank = -1;
  std::string host, clock;  // clock: see MergedRank (profshim/analysis/merge.h)
  double offset_us = 0, drift_ppm = 0, error_us = -1;
};

struct TraceDescription {
  std::string path, host, run_name, command, steps_source;
  int rank = -1, world_size = -1;
  bool ours = false;  // written by profshim
  bool complete = true;
  std::vector<std::string> missing;  // see RecordingInfo
  bool limited = false;              // a limit of the spec closed the window
  bool cut_off = false;              // the file ends early
  bool recovered = false;
  std::string without_durations;  // see Timeline
  std::int64_t window = -1;
  std::uint64_t events = 0, dropped = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::set<std::int64_t> steps;
  std::vector<std::pair<std::string, std::int64_t>> losses;  // besides dropped events: "threads lost", 2
  std::vector<std::string> problems;
  std::optional<WindowLoad> load;
};

struct LoadedTrace {
  Timeline timeline;
  TraceDescription description;
};

/// Adds a merged trace's clocks to `clocks`.
std::vector<LoadedTrace> load_ranks(const std::string& path, std::vector<RankClock>& clocks,
                                    std::vector<std::string>& warnings, bool& truncated);

/// Returns a sentence if two traces are of one rank and window, else "".
std::string twice_there(const std::vector<TraceDescription>& traces);

void make_one_step(Timeline& timeline);

ReportSection losses_section(const std::vector<TraceDescription>& traces);
void add_losses(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
