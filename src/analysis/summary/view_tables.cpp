#include "view_tables.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace profshim::analysis_detail {

std::size_t column_index(const ViewTable& table, std::string_view key) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].key == key) return i;
  }
  throw std::out_of_range("the table " + table.key + " has no column " + std::string(key));
}

double number_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr ? *number : 0;
}

void sort_descending(ViewTable& table, std::string_view key) {
  const std::size_t column = column_index(table, key);
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [=](const auto& a, const auto& b) { return number_of(a[column]) > number_of(b[column]); });
}

}  // namespace profshim::analysis_detail
