#pragma once

#include <string>
#include <vector>

#include "traces.h"

namespace profshim::analysis_detail {

/// Returns each rank's clock in the window where its error is largest. On failure, sets `why_not` to a sentence.
std::vector<RankClock> compare_clocks(const std::vector<TraceDescription>& traces, std::vector<std::string>& warnings,
                                      std::string& why_not);

ReportSection clocks_section(const std::vector<RankClock>& clocks, const std::string& why_not);
void add_clocks(const std::vector<RankClock>& clocks, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
