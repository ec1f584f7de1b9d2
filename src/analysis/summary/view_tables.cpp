#include "view_tables.h"

#include <algorithm>
#include <functional>
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

namespace {

void append_cells(const std::vector<Counted>& counted, const ViewColumn& column,
                  const std::function<Cell(const Counted&)>& cell, ViewTable& table) {
  std::vector<Cell> cells;
  for (const Counted& row : counted) cells.push_back(cell(row));
  append_if_known(column, std::move(cells), table);
}

Cell counter_cell(const Counted& counted, std::size_t counter) {
  const double value = counted.counters[counter];
  if (value < 0) return {};
  return kPerfCounterNames[counter].is_time ? Cell(value) : Cell(static_cast<std::int64_t>(value));
}

Cell instructions_per_cycle(const Counted& counted) {
  const double instructions = counted[PerfCounter::kInstructions], cycles = counted[PerfCounter::kCycles];
  return instructions < 0 || cycles <= 0 ? Cell() : Cell(instructions / cycles);
}

}  // namespace

void append_if_known(const ViewColumn& column, std::vector<Cell> cells, ViewTable& table) {
  if (std::all_of(cells.begin(), cells.end(), [](const Cell& c) { return c == Cell(); })) return;
  table.columns.push_back(column);
  for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(std::move(cells[i]));
}

void append_counter_columns(const std::vector<Counted>& counted, ViewTable& table) {
  append_cells(counted, {"ipc", "IPC"}, instructions_per_cycle, table);
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    const PerfCounterName& name = kPerfCounterNames[n];
    append_cells(
        counted, {std::string(name.column), std::string(name.title), name.is_time ? Unit::kTime : Unit::kPlain},
        [n](const Counted& row) { return counter_cell(row, n); }, table);
  }
  append_cells(
      counted, {"counted_percent", "Counted", Unit::kPercent},
      [](const Counted& row) { return row.percent < 0 ? Cell() : Cell(row.percent); }, table);
}

}  // namespace profshim::analysis_detail
