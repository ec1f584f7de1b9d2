#pragma once

#include <map>

#include "profshim/analysis/compare.h"

namespace profshim::analysis_detail {

/// Rows of the kinds kPhase, kPhaseLaunches and kPhaseDevice.
std::map<RowKey, ProfileRow> phase_rows(const ProfileRank& rank);

}  // namespace profshim::analysis_detail
