// Clocks of ranks in a report: fitted as for profshim merge, or read from a merged trace. Called by make_report().
#pragma once

#include <string>
#include <vector>

#include "traces.h"

namespace profshim::analysis_detail {

/// Reads the files again and compares the clocks of each window. Returns the window with the largest error for each
/// rank. `why_not`: one sentence if clocks cannot be compared.
std::vector<RankClock> compare_clocks(const std::vector<TraceDescription>& traces, std::vector<std::string>& warnings,
                                      std::string& why_not);

ReportSection clocks_section(const std::vector<RankClock>& clocks, const std::string& why_not);
void add_clocks(const std::vector<RankClock>& clocks, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
