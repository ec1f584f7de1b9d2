// What profshim report says of the traces themselves: whose they are, what was lost in them, whether they belong
// together. A merged trace is taken apart into its ranks.
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

/// How the clock of a rank compares with that of the first one.
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
  bool complete = true;      // no window that the end of the job cut
  bool limited = false;      // a limit of the spec closed the window
  bool cut_off = false;      // the file ends early
  bool recovered = false;    // made by profshim recover
  std::int64_t window = -1;  // its number in the run
  std::uint64_t events = 0, dropped = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::set<std::int64_t> steps;
  std::vector<std::pair<std::string, std::int64_t>> losses;  // others than dropped events: "threads lost", 2
  std::vector<std::string> problems;                         // as the trace says them
  std::optional<WindowLoad> load;                            // of the CPUs, where the trace says it
};

struct LoadedTrace {
  Timeline timeline;
  TraceDescription description;
};

/// The ranks of a file, each for itself; of a merged one with their clocks.
std::vector<LoadedTrace> load_ranks(const std::string& path, std::vector<RankClock>& clocks,
                                    std::vector<std::string>& warnings, bool& truncated);

/// "" when files of a rank are its windows, one after the other; else which are not.
std::string twice_there(const std::vector<TraceDescription>& traces);

/// Nothing but the whole time of the trace as one step, on the thread that had the most calls.
void make_one_step(Timeline& timeline);

ReportSection losses_section(const std::vector<TraceDescription>& traces);
/// What was lost, and who is not here.
void add_losses(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
