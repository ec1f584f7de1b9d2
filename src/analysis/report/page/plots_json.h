// The plots and heat maps of a report as JSON for page.js. Called by report_page().
#pragma once

#include <string>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// The result must be escaped with script_json() before it goes into a page.
std::string plots_json(const Report& report);

}  // namespace profshim::analysis_detail
