#pragma once

#include <string_view>

#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Throws std::out_of_range if the table has no column with this key.
std::size_t column_index(const ViewTable& table, std::string_view key);

/// Returns 0 if the cell has no number.
double number_of(const Cell& cell);

void sort_descending(ViewTable& table, std::string_view key);

}  // namespace profshim::analysis_detail
