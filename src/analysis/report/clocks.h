// The report's section about the clocks of ranks.
#pragma once

#include <string>
#include <vector>

#include "traces.h"

namespace profshim::analysis_detail {

/// Reads the files again. Returns each rank's clock in the window with its largest error. If that fails, `why_not` gets
/// a sentence.
std::vector<RankClock> compare_clocks(const std::vector<TraceDescription>& traces, std::vector<std::string>& warnings,
                                      std::string& why_not);

ReportSection clocks_section(const std::vector<RankClock>& clocks, const std::string& why_not);
void add_clocks(const std::vector<RankClock>& clocks, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
