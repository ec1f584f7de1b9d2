// The views of `profshim summary`: --kernels, --steps, --comms, --mpi, --phases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace profshim {

/// Format of a column in the text output; JSON and CSV have the plain numbers.
enum class Unit : std::uint8_t {
  kPlain,  // a text, or a whole number
  kTime,   // microseconds
  kBytes,
  kRate,  // GB/s, of 1e9 bytes
  kPercent,
};

/// std::monostate = unknown.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct ViewColumn {
  std::string key;    // "total_us"
  std::string title;  // "Total"
  Unit unit = Unit::kPlain;
};

struct ViewTable {
  std::string key;
  std::string title;  // "" = not in the text output, which has View::notes instead
  std::vector<ViewColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool limit_each = false;  // limit_rows() counts rows per value of the first column
};

struct View {
  std::string key;
  std::vector<ViewTable> tables;
  std::vector<std::string> notes;
};

struct ViewChoice {
  bool kernels = false, steps = false, comms = false, mpi = false, phases = false;
  double gap_us = 1000;  // shortest gap that --steps lists
  bool several_runs = false;
};

struct Views {
  std::vector<View> views;  // in the order of ViewChoice
  std::vector<std::string> warnings;
  bool truncated = false;  // a file ends early
};

/// Throws std::runtime_error if a file is not a trace or has no events,
/// and without several_runs if the traces are not of one job.
Views make_views(const std::vector<std::string>& paths, const ViewChoice& choice);

/// `row_limit`: -1 = all. Adds a note if rows are removed.
void limit_rows(View& view, std::int64_t row_limit);

/// `time_unit`: "s", "ms", "us"; "" = the unit that fits each number.
std::string view_text(const View& view, std::string_view time_unit);
std::string view_json(const View& view);
/// Each table starts with a line of keys; an empty line separates tables.
std::string view_csv(const View& view);

}  // namespace profshim
