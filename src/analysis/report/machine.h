#pragma once

#include <vector>

#include "profshim/analysis/report.h"
#include "traces.h"

namespace profshim::analysis_detail {

/// The table is empty if the traces lack CPU times.
ViewTable cpu_table(const std::vector<TraceDescription>& traces);
/// Adds a sentence if a rank waited for CPUs during a tenth of the time.
void judge_machine(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
