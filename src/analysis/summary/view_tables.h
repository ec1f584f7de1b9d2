#pragma once

#include <string_view>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Throws std::out_of_range if the table has no column with this key.
std::size_t column_index(const ViewTable& table, std::string_view key);

/// Returns 0 if the cell has no number.
double number_of(const Cell& cell);

void sort_descending(ViewTable& table, std::string_view key);

// Columns of `profshim summary --steps` and --phases that not every trace can fill.

/// Appends a column of `cells`, one for each row of `table`, if at least one is known.
void append_if_known(const ViewColumn& column, std::vector<Cell> cells, ViewTable& table);
/// Appends the columns of which at least one row knows its cell. `counted`: of each row.
void append_counter_columns(const std::vector<Counted>& counted, ViewTable& table);

}  // namespace profshim::analysis_detail
