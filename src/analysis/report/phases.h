#pragma once

#include <vector>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// `phases`: from PhasesView. The section has no table if the traces have no phases.
ReportSection phases_section(const View& phases);
void judge_phases(const View& phases, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
