#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// Returns an empty table if the view has none with this key.
const ViewTable& table_of(const View& view, std::string_view key);

/// Skips keys that the table lacks.
ViewTable with_columns(const ViewTable& table, std::initializer_list<std::string_view> keys);

/// Adds a note if rows are dropped; `which` describes the kept rows.
void keep_rows(ViewTable& table, std::size_t most, std::string_view which, std::vector<std::string>& notes);

/// Returns the rows of rank "all", or of the only rank.
ViewTable of_all_ranks(const ViewTable& table);

}  // namespace profshim::analysis_detail
