// The views of profshim summary besides key_averages(): --kernels, --steps, --comms, --mpi. Each view is a few tables;
// the heads of src/analysis/summary/*_view.h explain their columns. Tool only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace profshim {

/// What the numbers of a column are, and so how people are shown them. Machines get them as they are.
enum class Unit : std::uint8_t {
  kPlain,    // a text, or a whole number
  kTime,     // microseconds
  kBytes,    // bytes
  kRate,     // GB/s, of 1e9 bytes
  kPercent,  // of 100
};

/// Nothing = not known.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct ViewColumn {
  std::string key;    // for machines: "total_us"
  std::string title;  // for people: "Total"
  Unit unit = Unit::kPlain;
};

struct ViewTable {
  std::string key;
  std::string title;  // "" = not shown to people, for whom notes say the same
  std::vector<ViewColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool limit_each = false;  // a limit of rows is for each value of the first column
};

struct View {
  std::string key;  // "kernels"
  std::vector<ViewTable> tables;
  std::vector<std::string> notes;  // sentences for people and machines
};

struct ViewChoice {
  bool kernels = false, steps = false, comms = false, mpi = false;
  double gap_us = 1000;  // of steps: a shorter gap is none
};

struct Views {
  std::vector<View> views;  // in the order of ViewChoice
  std::vector<std::string> warnings;
  bool truncated = false;  // a file ends early
};

/// Reads each file once. Throws std::runtime_error with one line for a file that is no trace or holds no events.
Views make_views(const std::vector<std::string>& paths, const ViewChoice& choice);

/// Leaves at most so many rows of each table (-1 = all), with a note where there were more.
void limit_rows(View& view, std::int64_t row_limit);

/// Aligned tables. `time_unit`: "s", "ms", "us", or "" = what fits each number.
std::string view_text(const View& view, std::string_view time_unit);
/// An object with a list of objects for each table.
std::string view_json(const View& view);
/// Each table with a line of its keys, an empty line between two.
std::string view_csv(const View& view);

}  // namespace profshim
