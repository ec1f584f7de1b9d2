#include "tables.h"

#include <algorithm>

namespace profshim::analysis_detail {

const ViewTable& table_of(const View& view, std::string_view key) {
  static const ViewTable kNothing;
  const auto at =
      std::find_if(view.tables.begin(), view.tables.end(), [=](const ViewTable& table) { return table.key == key; });
  return at != view.tables.end() ? *at : kNothing;
}

ViewTable with_columns(const ViewTable& table, std::initializer_list<std::string_view> keys) {
  ViewTable result{.key = table.key, .title = table.title};
  std::vector<std::size_t> from;
  for (const std::string_view key : keys) {
    const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                                 [=](const ViewColumn& column) { return column.key == key; });
    if (at == table.columns.end()) continue;
    from.push_back(static_cast<std::size_t>(at - table.columns.begin()));
    result.columns.push_back(*at);
  }
  for (const auto& row : table.rows) {
    auto& cells = result.rows.emplace_back();
    for (const std::size_t column : from) cells.push_back(row[column]);
  }
  return result;
}

void keep_rows(ViewTable& table, std::size_t most, std::string_view which, std::vector<std::string>& notes) {
  if (table.rows.size() <= most) return;
  notes.push_back(table.title + ": " + std::to_string(most) + " of " + std::to_string(table.rows.size()) + " rows, " +
                  std::string(which) + ".");
  table.rows.resize(most);
}

ViewTable of_all_ranks(const ViewTable& table) {
  ViewTable result{.key = table.key, .title = table.title, .columns = table.columns};
  if (table.rows.empty()) return result;
  // With several ranks, the rows of "all" come first.
  for (const auto& row : table.rows) {
    if (row[0] == table.rows[0][0]) result.rows.push_back(row);
  }
  return result;
}

}  // namespace profshim::analysis_detail
