#pragma once

#include <vector>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// `windows` has each whole trace as one step, for traces without steps.
ReportSection steps_section(const View& steps, const View& windows);
void judge_steps(const View& steps, const View& windows, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
