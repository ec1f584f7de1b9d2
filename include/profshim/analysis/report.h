// Makes one self-contained HTML page about finished traces, for `profshim report`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profshim/analysis/groups.h"
#include "profshim/analysis/views.h"

namespace profshim {

struct ReportFinding {
  enum class Level : std::uint8_t { kBad, kNotice, kGood, kPlain };
  Level level = Level::kPlain;
  std::string text;
};

/// NaN in `values` = no value.
struct ReportPlot {
  enum class Kind : std::uint8_t {
    kLines,
    kStackedBars,
    kBars,
    kCurves,  // over time, with a step at each point
    kStackedCurves,
  };
  struct Series {
    std::string label;
    std::vector<double> values;
    bool quiet = false;  // drawn in gray
    int color = -1;      // index into the page's colors; -1 = index of the series
  };
  std::string key;  // also the HTML id
  Kind kind = Kind::kLines;
  std::string title, label_axis, value_axis;  // value_axis: without the unit
  Unit unit = Unit::kTime;
  std::vector<std::string> labels;
  std::vector<Series> series;
  // Curves have these instead of `labels`.
  std::vector<double> times_us;
  ViewTable numbers;  // stands for the curves where there is no JavaScript
};

/// NaN in `values` = no value.
struct ReportHeatMap {
  std::string key, title, row_axis, column_axis;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;
  Unit unit = Unit::kTime;
  bool shows_numbers = false;  // false: narrow cells without text
};

struct ReportSection {
  std::string key, title;
  std::vector<std::string> notes;
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
  bool truncated = false;      // a file ends early
  std::vector<Report> groups;  // reports of groups of processes (profshim/analysis/groups.h), titled "Group 0: ..."
};

/// Throws std::runtime_error if a file is not a trace, has no events or belongs to another job.
Report make_report(const std::vector<std::string>& paths);
/// Never compares or adds up ranks of different groups. `titles` are those of the groups.
Report make_report(const std::vector<TraceGroup>& groups, const std::vector<std::string>& titles);

/// Escapes all text.
std::string report_page(const Report& report);

}  // namespace profshim
