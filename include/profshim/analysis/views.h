// The views of profshim summary besides key_averages(): --kernels, --steps, --comms, --mpi. Each view has a few tables;
// src/analysis/summary/{kernels,steps,mpi}_view.h and comms/comms_view.h explain their columns. Tool only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace profshim {

/// Unit of the numbers in a column. Text is formatted by it; JSON and CSV have the plain numbers.
enum class Unit : std::uint8_t {
  kPlain,    // a text, or a whole number
  kTime,     // microseconds
  kBytes,    // bytes
  kRate,     // GB/s, of 1e9 bytes
  kPercent,  // of 100
};

/// std::monostate = unknown.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct ViewColumn {
  std::string key;    // for machines: "total_us"
  std::string title;  // for people: "Total"
  Unit unit = Unit::kPlain;
};

struct ViewTable {
  std::string key;
  std::string title;  // "" = only for JSON and CSV; in text, notes say the same
  std::vector<ViewColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool limit_each = false;  // a limit on rows applies to each value of the first column
};

struct View {
  std::string key;  // "kernels"
  std::vector<ViewTable> tables;
  std::vector<std::string> notes;
};

struct ViewChoice {
  bool kernels = false, steps = false, comms = false, mpi = false;
  double gap_us = 1000;  // of steps: shorter gaps are not listed
};

struct Views {
  std::vector<View> views;  // in the order of ViewChoice
  std::vector<std::string> warnings;
  bool truncated = false;  // a file ends early
};

/// Reads each file once. Throws std::runtime_error with one line if a file is not a trace or has no events.
Views make_views(const std::vector<std::string>& paths, const ViewChoice& choice);

/// Keeps at most so many rows of each table (-1 = all), and adds a note where there were more.
void limit_rows(View& view, std::int64_t row_limit);

/// Returns aligned tables. `time_unit`: "s", "ms", "us"; "" = the unit that fits each number.
std::string view_text(const View& view, std::string_view time_unit);
/// Returns an object with a list of objects for each table.
std::string view_json(const View& view);
/// Returns each table with a line of its keys, and an empty line between two tables.
std::string view_csv(const View& view);

}  // namespace profshim
