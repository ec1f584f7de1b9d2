// Selects parts of views for a report.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// An empty table if missing.
const ViewTable& table_of(const View& view, std::string_view key);

/// 0 if the cell has none.
double number_of(const Cell& cell);

/// In this order. Skips missing keys.
ViewTable with_columns(const ViewTable& table, std::initializer_list<std::string_view> keys);

/// Adds a note. `which` describes the kept rows.
void keep_rows(ViewTable& table, std::size_t most, std::string_view which, std::vector<std::string>& notes);

/// Rows of "all", or of the only rank.
ViewTable of_all_ranks(const ViewTable& table);

}  // namespace profshim::analysis_detail
