#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/json/writer.h"
#include "profshim/run/run_folder.h"
#include "profshim/window.h"

namespace profshim::cli {

struct PlannedWindow {
  std::int64_t first = 0, last = 0;
  bool complete = true;  // ends before `steps`
};
std::vector<PlannedWindow> planned_windows(const Schedule& schedule, std::int64_t steps, std::size_t most);

/// A phase of the spec in a job of known size.
struct PlannedPhase {
  const PhaseSpec* spec = nullptr;
  std::vector<int> ranks;
  std::vector<PlannedWindow> windows;  // in occurrences, or in ticks; the first few
  bool windows_go_on = false;
  std::vector<std::string> files;  // of the first rank. They have words such as STEP for what only the job knows
};

/// `ranks`: all ranks of the job. `names`: run name and host.
std::vector<PlannedPhase> plan_phases(const Spec& spec, const std::vector<Rank>& ranks, const NameValues& names);
void print_phases(const std::vector<PlannedPhase>& phases);
void write_phases(JsonWriter& json, const std::vector<PlannedPhase>& phases);

/// Returns "0,8-15".
std::string rank_set(const std::vector<int>& ranks);

}  // namespace profshim::cli
