// Columns of `profshim summary --steps` and --phases that not every trace can fill.
#pragma once

#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Appends a column of `cells`, one for each row of `table`, if at least one is known.
void append_if_known(const ViewColumn& column, std::vector<Cell> cells, ViewTable& table);
/// Appends the columns of which at least one row knows its cell. `counted`: of each row.
void append_counter_columns(const std::vector<Counted>& counted, ViewTable& table);

}  // namespace profshim::analysis_detail
