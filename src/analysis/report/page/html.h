// Sections of a report as HTML: tables, heat maps, and the places where page.js draws plots. Called by report_page().
#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

std::string section_html(const ReportSection& section);
/// The list items of the verdict.
std::string verdict_html(const std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
