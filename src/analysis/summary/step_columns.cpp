#include "step_columns.h"

#include <algorithm>
#include <functional>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {
namespace {

void append_if_known(const std::vector<Step>& steps, const ViewColumn& column,
                     const std::function<Cell(const Step&)>& cell, ViewTable& table) {
  std::vector<Cell> cells;
  for (const Step& step : steps) cells.push_back(cell(step));
  if (std::all_of(cells.begin(), cells.end(), [](const Cell& c) { return c == Cell(); })) return;
  table.columns.push_back(column);
  for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(std::move(cells[i]));
}

Cell counter_cell(const Step& step, std::size_t counter) {
  const double value = step.counters[counter];
  if (value < 0) return {};
  return kPerfCounterNames[counter].is_time ? Cell(value) : Cell(static_cast<std::int64_t>(value));
}

Cell instructions_per_cycle(const Step& step) {
  const double instructions = step.counters[static_cast<std::size_t>(PerfCounter::kInstructions)];
  const double cycles = step.counters[static_cast<std::size_t>(PerfCounter::kCycles)];
  return instructions < 0 || cycles <= 0 ? Cell() : Cell(instructions / cycles);
}

}  // namespace

void append_known_columns(const std::vector<Step>& steps, ViewTable& table) {
  append_if_known(
      steps, {"cpu_us", "CPU", Unit::kTime},
      [](const Step& step) { return step.cpu_ns < 0 ? Cell() : Cell(to_us(step.cpu_ns)); }, table);
  append_if_known(steps, {"ipc", "IPC"}, instructions_per_cycle, table);
  for (std::size_t n = 0; n < kPerfCounters; ++n) {
    const PerfCounterName& name = kPerfCounterNames[n];
    append_if_known(
        steps, {std::string(name.column), std::string(name.title), name.is_time ? Unit::kTime : Unit::kPlain},
        [n](const Step& step) { return counter_cell(step, n); }, table);
  }
  append_if_known(
      steps, {"counted_percent", "Counted", Unit::kPercent},
      [](const Step& step) { return step.counted_percent < 0 ? Cell() : Cell(step.counted_percent); }, table);
}

}  // namespace profshim::analysis_detail
