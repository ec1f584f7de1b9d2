#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/report.h"
#include "traces.h"

namespace profshim::analysis_detail {

ViewTable cpu_table(const std::vector<TraceDescription>& traces);
void judge_machine(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

/// `phases`: from PhasesView. The section has no table if the traces have no phases.
ReportSection phases_section(const View& phases);
void judge_phases(const View& phases, std::vector<ReportFinding>& verdict);

/// `windows` has each whole trace as one step, for traces without steps.
ReportSection steps_section(const View& steps, const View& windows);
void judge_steps(const View& steps, const View& windows, std::vector<ReportFinding>& verdict);

/// Returns each rank's clock in the window where its error is largest. On failure, sets `why_not` to a sentence.
std::vector<RankClock> compare_clocks(const std::vector<TraceDescription>& traces, std::vector<std::string>& warnings,
                                      std::string& why_not);

ReportSection clocks_section(const std::vector<RankClock>& clocks, const std::string& why_not);
void add_clocks(const std::vector<RankClock>& clocks, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
