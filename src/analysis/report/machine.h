#pragma once

#include <vector>

#include "profshim/analysis/report.h"
#include "traces.h"

namespace profshim::analysis_detail {

ViewTable cpu_table(const std::vector<TraceDescription>& traces);
void judge_machine(const std::vector<TraceDescription>& traces, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
