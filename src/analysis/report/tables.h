// Views' tables as a report shows them: found by key, with the columns and as many rows as a page has room for.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis/views.h"

namespace profshim::analysis_detail {

/// The table of that key; an empty one where there is none.
const ViewTable& table_of(const View& view, std::string_view key);

/// Its number; a whole one as well. 0 where nothing is known.
double number_of(const Cell& cell);

/// Those columns alone, in that order.
ViewTable with_columns(const ViewTable& table, std::initializer_list<std::string_view> keys);

/// The first so many rows; a note says how many there were.
void keep_rows(ViewTable& table, std::size_t most, std::string_view which, std::vector<std::string>& notes);

/// The rows of all ranks together: those of "all", or of the one rank that there is.
ViewTable of_all_ranks(const ViewTable& table);

}  // namespace profshim::analysis_detail
