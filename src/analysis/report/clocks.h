// How well the times of ranks can be compared: by merge's fit, or as a merged trace says itself.
#pragma once

#include <string>
#include <vector>

#include "traces.h"

namespace profshim::analysis_detail {

/// Of the files of several ranks, which are read for it. Windows are taken each for itself: what stands for a rank is
/// the one that is known worst. `why_not`: one sentence where clocks cannot be compared.
std::vector<RankClock> compare_clocks(const std::vector<TraceDescription>& traces, std::vector<std::string>& warnings,
                                      std::string& why_not);

ReportSection clocks_section(const std::vector<RankClock>& clocks, const std::string& why_not);
void add_clocks(const std::vector<RankClock>& clocks, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
