// Columns of `profshim summary --steps` that not every trace can fill.
#pragma once

#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Appends the columns of which at least one step knows its cell. `table` has one row for each step.
void append_known_columns(const std::vector<Step>& steps, ViewTable& table);

}  // namespace profshim::analysis_detail
