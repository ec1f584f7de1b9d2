#pragma once

#include <string>

#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// The result must pass through script_json().
std::string plots_json(const Report& report);

}  // namespace profshim::analysis_detail
