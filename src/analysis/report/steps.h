// Steps in a report: their durations, and the parts of their time. Called by make_report().
#pragma once

#include <vector>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// `steps`: the view of src/analysis/summary/steps_view.h. `windows`: the same view with each whole trace as one step,
/// for traces without steps.
ReportSection steps_section(const View& steps, const View& windows);
void judge_steps(const View& steps, const View& windows, std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
