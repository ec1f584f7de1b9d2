#pragma once

#include <string>
#include <vector>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

std::string section_html(const ReportSection& section);
std::string verdict_html(const std::vector<ReportFinding>& verdict);

}  // namespace profshim::analysis_detail
