// The traces of a report: their ranks, their losses, and whether they belong together. A merged trace is split into its
// ranks. Called by make_report().
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

/// The clock of a rank against that of the first rank.
struct RankClock {
  int rank = -1;
  std::string host, clock;  // as in MergedRank (profshim/analysis/merge.h)
  double offset_us = 0, drift_ppm = 0, error_us = -1;
};

/// One rank's events in one file.
struct TraceDescription {
  std::string path, host, run_name, command, steps_source;
  int rank = -1, world_size = -1;
  bool ours = false;
  bool complete = true;      // the end of the job did not cut the window
  bool limited = false;      // a limit of the spec closed the window
  bool cut_off = false;      // the file ends early
  bool recovered = false;    // made by profshim recover
  std::int64_t window = -1;  // its number in the run
  std::uint64_t events = 0, dropped = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::set<std::int64_t> steps;
  std::vector<std::pair<std::string, std::int64_t>> losses;  // besides dropped events: "threads lost", 2
  std::vector<std::string> problems;                         // sentences of the trace
  std::optional<WindowLoad> load;                            // use of the CPUs, if known
};

struct LoadedTrace {
  Timeline timeline;
  TraceDescription description;
};

/// Returns the ranks of a file. Adds the clocks of the ranks of a merged trace to `clocks`.
std::vector<LoadedTrace> load_ranks(const std::string& path, std::vector<RankClock>& clocks,
                                    std::vector<std::string>& warnings, bool& truncated);

/// Returns "" if the files of each rank are different windows; else one sentence that names two that are not.
std::string twice_there(const std::vector<TraceDescription>& traces);

/// Replaces the steps by one that lasts the whole trace, on the thread with the most time in calls.
void make_one_step(Timeline& timeline);

ReportSection losses_section(const std::vector<TraceDescription>& traces);
/// Adds sentences about losses and missing ranks.
void add_losses(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
