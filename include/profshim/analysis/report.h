// One HTML file that shows a person what finished traces say: profshim report. make_report() finds out what is to be
// said (src/analysis/report_*), report_page() makes a page of it that needs nothing besides (src/report). Tool only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profshim/analysis/views.h"

namespace profshim {

/// A sentence of the verdict.
struct ReportFinding {
  enum class Level : std::uint8_t { kBad, kNotice, kGood, kPlain };
  Level level = Level::kPlain;
  std::string text;
};

/// Lines over labels, or bars that stand one behind the other. NaN = nothing known there.
struct ReportPlot {
  enum class Kind : std::uint8_t { kLines, kStackedBars, kBars };
  struct Series {
    std::string label;
    std::vector<double> values;
    bool quiet = false;  // idle time and the like: in grey
    int color = -1;      // of the page's row of them, where others may be missing; -1 = by its place
  };
  std::string key;  // also its id on the page
  Kind kind = Kind::kLines;
  std::string title, label_axis, value_axis;  // the latter without its unit
  Unit unit = Unit::kTime;
  std::vector<std::string> labels;
  std::vector<Series> series;
};

/// A table whose cells are colored by their values; NaN = none there.
struct ReportHeatMap {
  std::string key, title, row_axis, column_axis;
  std::vector<std::string> rows, columns;  // labels
  std::vector<std::vector<double>> values;
  Unit unit = Unit::kTime;
  bool shows_numbers = false;  // else colors alone, of narrow cells
};

struct ReportSection {
  std::string key, title;
  std::vector<std::string> notes;  // what it shows, what was left out
  std::vector<ReportPlot> plots;
  std::vector<ReportHeatMap> heat_maps;
  std::vector<ViewTable> tables;
};

struct Report {
  std::string title;
  std::vector<std::pair<std::string, std::string>> overview;  // "Ranks", "4 of 4"
  std::vector<ReportFinding> verdict;
  std::vector<ReportSection> sections;
  std::vector<std::string> warnings;
  bool truncated = false;  // a file ends early
};

/// Reads each file once for the numbers, and where there are several ranks once more for their clocks. Throws
/// std::runtime_error with one line for a file that is no trace, holds no events or is of another job than the rest.
Report make_report(const std::vector<std::string>& paths);

/// The whole file. All text of the report is escaped; the page loads nothing.
std::string report_page(const Report& report);

}  // namespace profshim
