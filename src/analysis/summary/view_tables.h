// Reads and sorts tables by the keys of their columns.
#pragma once

#include <string_view>

#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Throws std::out_of_range if the table has no column with this key.
std::size_t column_index(const ViewTable& table, std::string_view key);

/// Returns the number in a cell; 0 if it has none.
double number_of(const Cell& cell);

/// Puts the largest numbers first. Keeps the order of equal rows.
void sort_descending(ViewTable& table, std::string_view key);

}  // namespace profshim::analysis_detail
