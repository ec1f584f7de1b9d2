// Selects tables, columns and rows of views for a report.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Returns the table with this key, or an empty one.
const ViewTable& table_of(const View& view, std::string_view key);

/// Returns the table with only these columns, in this order. Skips keys that it lacks.
ViewTable with_columns(const ViewTable& table, std::initializer_list<std::string_view> keys);

/// Keeps the first `most` rows and adds a note with their number. `which`: the rows that are kept.
void keep_rows(ViewTable& table, std::size_t most, std::string_view which, std::vector<std::string>& notes);

/// Returns the rows over all ranks: those of "all", or of the only rank.
ViewTable of_all_ranks(const ViewTable& table);

}  // namespace profshim::analysis_detail
