#pragma once

#include <map>
#include <string>

#include "analysis/model/timeline.h"
#include "profshim/analysis/compare.h"

namespace profshim::analysis_detail {

/// Returns the phase of whose occurrence the trace is the window, or "".
std::string phase_of(const Timeline& timeline);

/// False for the window of a phase, too: steps overlap it at random.
bool has_steps(const Timeline& timeline);

/// Adds the steps and events of one trace to an empty profile.
void add_file(const Timeline& timeline, ProfileRank& rank);

/// Rows of the kinds kPhase, kPhaseLaunches and kPhaseDevice.
std::map<RowKey, ProfileRow> phase_rows(const ProfileRank& rank);

}  // namespace profshim::analysis_detail
