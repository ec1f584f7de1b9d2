// CPUs in a report: whether the threads of the ranks waited for them. Called by make_report().
#pragma once

#include <vector>

#include "profshim/analysis/report.h"
#include "traces.h"

namespace profshim::analysis_detail {

/// Returns a row for each rank: the time that its threads waited for a CPU, and the CPU time of its process. No rows if
/// the traces lack it.
ViewTable cpu_table(const std::vector<TraceDescription>& traces);
/// Adds a sentence if ranks waited for a tenth of the time or more.
void judge_machine(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
