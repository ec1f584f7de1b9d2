#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

std::string section_html(const ReportSection& section);
std::string overview_html(const Report& report);
/// The findings and warnings, or "" if there are none.
std::string summary_html(const Report& report);
/// Links to the groups, then each group with its own overview, summary and sections.
std::string groups_html(const std::vector<Report>& groups);

/// The result must pass through script_json().
std::string plots_json(const Report& report);

}  // namespace profshim::analysis_detail
