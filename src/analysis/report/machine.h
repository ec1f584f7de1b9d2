// What a report says of the machines: whether the ranks had the CPUs that they asked for.
#pragma once

#include <vector>

#include "profshim/analysis/report.h"
#include "traces.h"

namespace profshim::analysis_detail {

/// By rank: how long its threads waited for a CPU, and how many CPUs its process used. No rows where no trace says it.
ViewTable cpu_table(const std::vector<TraceDescription>& traces);
/// Ranks that waited for a tenth of the time or more.
void judge_machine(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
