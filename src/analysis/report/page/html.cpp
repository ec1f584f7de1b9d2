#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "analysis/report/tables.h"
#include "analysis/summary/view_tables.h"
#include "escape.h"
#include "parts.h"
#include "profshim/base/text/number_text.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::string_view kNarrowBlank = "\u202f";

/// Returns "12 345" for 12345.
std::string whole_text(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t sign = value < 0 ? 1 : 0;
  if (digits.size() - sign < 5) return digits;
  for (std::size_t at = digits.size() - 3; at > sign && at < digits.size(); at -= std::min<std::size_t>(at, 3)) {
    digits.insert(at, kNarrowBlank);
  }
  return digits;
}

struct TimeUnit {
  double divisor;
  const char* name;
};
TimeUnit time_unit(double most_us) {
  if (most_us >= 1e6) return {1e6, "s"};
  return most_us >= 1e3 ? TimeUnit{1e3, "ms"} : TimeUnit{1, "\u00b5s"};
}

std::string time_text(double us, const TimeUnit& unit) {
  constexpr double kLeast = 0.0005;
  if (us == 0) return "0";
  const double value = us / unit.divisor;
  if (std::fabs(value) < kLeast) return value > 0 ? "&lt;0.001" : "&gt;-0.001";
  return fixed_text(value, 3);
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; std::fabs(bytes) >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fixed_text(bytes, unit == 0 ? 0 : 2) + " " + kUnits[unit];
}

struct ColumnForm {
  Unit unit = Unit::kPlain;
  bool text = false;
  bool prose = false;
  TimeUnit time{1, ""};
};

ColumnForm form_of(const ViewTable& table, std::size_t column) {
  ColumnForm form{.unit = table.columns[column].unit};
  const std::string& key = table.columns[column].key;
  form.prose = key == "problem" || key == "operators" || key == "stack";
  double most = 0;
  for (const auto& row : table.rows) {
    form.text = form.text || std::holds_alternative<std::string>(row[column]);
    most = std::max(most, std::fabs(number_of(row[column])));
  }
  if (form.unit == Unit::kTime) form.time = time_unit(most);
  return form;
}

/// The title has the exact number.
std::string bytes_html(double value, bool in_text_column) {
  std::string out = in_text_column ? "<td class=\"text\"" : "<td";
  if (std::fabs(value) >= 1024) out += " title=\"" + whole_text(static_cast<std::int64_t>(value)) + " B\"";
  return out + ">" + bytes_text(value) + "</td>";
}

std::string cell_html(const Cell& cell, const ColumnForm& form) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    const std::string title = form.prose ? "" : " title=\"" + escaped(*text, kMaxTitleBytes) + "\"";
    return std::string("<td class=\"text") + (form.prose ? " long" : "") + "\"" + title + ">" +
           escaped(*text, form.prose ? kMaxSentenceBytes : kMaxCellBytes) + "</td>";
  }
  const char* const open = form.text ? "<td class=\"text\">" : "<td>";
  if (std::holds_alternative<std::monostate>(cell)) return std::string(open) + "-</td>";
  const double value = number_of(cell);
  switch (form.unit) {
    case Unit::kTime:
      return open + time_text(value, form.time) + "</td>";
    case Unit::kBytes:
      return bytes_html(value, form.text);
    case Unit::kRate:
      return open + fixed_text(value, 3) + "</td>";
    case Unit::kPercent:
      return "<td class=\"share\" style=\"--share:" + fixed_text(std::clamp(value, 0.0, 100.0), 1) + "\">" +
             fixed_text(value, 1) + "\u00a0%</td>";
    case Unit::kPlain:
      break;
  }
  const auto* whole = std::get_if<std::int64_t>(&cell);
  return open + (whole != nullptr ? whole_text(*whole) : fixed_text(value, 3)) + "</td>";
}

std::string numbers_html(const ViewTable& table) {
  std::vector<ColumnForm> forms;
  std::string out = "<div class=\"scroll\"><table class=\"numbers\"><thead><tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const ColumnForm& form = forms.emplace_back(form_of(table, i));
    std::string head = table.columns[i].title;
    if (form.unit == Unit::kTime) head += std::string(" (") + form.time.name + ")";
    if (form.unit == Unit::kRate) head += " (GB/s)";
    out += std::string("<th") + (form.text ? " class=\"text\">" : ">") + escaped(head) + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) out += cell_html(row[i], forms[i]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string table_html(const ViewTable& table) {
  return "<h3>" + escaped(table.title) + "</h3>\n" + numbers_html(table);
}

double most_of(const ReportHeatMap& map) {
  double most = 0;
  for (const auto& row : map.values) {
    for (const double value : row) most = std::isnan(value) ? most : std::max(most, value);
  }
  return most;
}

std::string short_text(double value) {
  if (value == 0) return "0";
  constexpr double kLeast = 0.005;
  return value < kLeast ? "&lt;0.01" : fixed_text(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

std::string heat_map_html(const ReportHeatMap& map) {
  constexpr std::size_t kManyRows = 24;
  const double most = most_of(map);
  const TimeUnit unit = time_unit(most);
  std::string out = "<figure><figcaption>" + escaped(map.title) + "</figcaption>\n<div class=\"wide-map\">";
  out += "<table id=\"" + escaped(map.key) + "\" class=\"heat " +
         (map.shows_numbers             ? "numbered"
          : map.rows.size() > kManyRows ? "narrow many"
                                        : "narrow") +
         "\">";
  if (map.shows_numbers) {
    out += "<thead><tr><th>" + escaped(map.row_axis) + " \u2193 &nbsp; " + escaped(map.column_axis) + " \u2192</th>";
    for (const std::string& column : map.columns) out += "<th>" + escaped(column) + "</th>";
    out += "</tr></thead>";
  }
  out += "<tbody>\n";
  for (std::size_t r = 0; r < map.values.size(); ++r) {
    out += "<tr><th>" + escaped(map.rows[r]) + "</th>";
    for (const double value : map.values[r]) {
      if (std::isnan(value)) {
        out += "<td class=\"none\"></td>";
        continue;
      }
      out += "<td style=\"--heat:" + fixed_text(most > 0 ? std::sqrt(value / most) : 0, 2) + "\">";
      if (map.shows_numbers) out += short_text(value / unit.divisor);
      out += "</td>";
    }
    out += "</tr>\n";
  }
  // Colors follow the square root, so that large values hide no others: most / 4 has the middle color.
  out += "</tbody></table></div>\n<div class=\"scale\">0 <i></i> " + short_text(most / 4 / unit.divisor) +
         " <i class=\"more\"></i> " + short_text(most / unit.divisor) + " " + unit.name;
  return out + "</div></figure>\n";
}

ViewTable numbers_of(const ReportPlot& plot) {
  ViewTable table{.columns = {{"label", plot.label_axis}}};
  for (const ReportPlot::Series& series : plot.series) table.columns.push_back({"value", series.label, plot.unit});
  for (std::size_t i = 0; i < plot.labels.size(); ++i) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(plot.labels[i]);
    for (const ReportPlot::Series& series : plot.series) {
      Cell& cell = row.emplace_back();
      if (!std::isnan(series.values[i])) cell = series.values[i];
    }
  }
  return table;
}

std::string plot_html(const ReportPlot& plot) {
  constexpr std::size_t kHeight = 300, kAround = 110, kOfBar = 32;
  const ViewTable numbers = plot.times_us.empty() ? numbers_of(plot) : plot.numbers;
  const std::size_t height =
      plot.kind == ReportPlot::Kind::kStackedBars ? kAround + kOfBar * plot.labels.size() : kHeight;
  return "<figure class=\"drawn\"><figcaption>" + escaped(plot.title) +
         "</figcaption>\n<div class=\"plot\" style=\"height:" + std::to_string(height) + "px\"><canvas id=\"" +
         escaped(plot.key) + "\" role=\"img\" aria-label=\"" + escaped(plot.title) + "\"></canvas></div></figure>\n" +
         "<details><summary>Numbers: " + escaped(plot.title) + "</summary>\n" + numbers_html(numbers) + "</details>\n";
}

std::string verdict_html(const std::vector<ReportFinding>& verdict) {
  std::string out;
  for (const ReportFinding& finding : verdict) {
    const auto [name, word] = [&]() -> std::pair<const char*, const char*> {
      switch (finding.level) {
        case ReportFinding::Level::kBad:
          return {"bad", "LOOK HERE"};
        case ReportFinding::Level::kNotice:
          return {"notice", "NOTE"};
        case ReportFinding::Level::kGood:
          return {"good", "FINE"};
        case ReportFinding::Level::kPlain:
          break;
      }
      return {"plain", "\u2013"};
    }();
    out +=
        std::string("<li class=\"") + name + "\"><b>" + word + "</b><span>" + escaped(finding.text) + "</span></li>\n";
  }
  return out;
}

}  // namespace

std::string section_html(const ReportSection& section) {
  std::string out = "<section id=\"" + escaped(section.key) + "\">\n<h2>" + escaped(section.title) + "</h2>\n";
  for (const std::string& note : section.notes) out += "<p class=\"note\">" + escaped(note) + "</p>\n";
  for (const ReportPlot& plot : section.plots) out += plot_html(plot);
  for (const ReportHeatMap& map : section.heat_maps) out += heat_map_html(map);
  for (const ViewTable& table : section.tables) out += table_html(table);
  return out + "</section>\n";
}

std::string overview_html(const Report& report) {
  std::string out = "<dl class=\"overview\">\n";
  for (const auto& [what, text] : report.overview) {
    out += "<dt>" + escaped(what) + "</dt><dd>" + escaped(text) + "</dd>\n";
  }
  return out + "</dl>\n";
}

std::string summary_html(const Report& report) {
  if (report.verdict.empty() && report.warnings.empty()) return "";
  std::string out = "<section class=\"summary\">\n<h2>Summary</h2>\n<ul class=\"verdict\">\n";
  out += verdict_html(report.verdict) + "</ul>\n";
  for (const std::string& warning : report.warnings) out += "<p class=\"note\">" + escaped(warning) + "</p>\n";
  return out + "</section>\n";
}

std::string groups_html(const std::vector<Report>& groups) {
  if (groups.empty()) return "";
  std::string links = "<nav>\n", out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Report& group = groups[i];
    const std::string id = "group-" + std::to_string(i);
    links += "<a href=\"#" + id + "\">" + escaped(group.title) + "</a>\n";
    out += "<article id=\"" + id + "\">\n<header>\n<h2 class=\"group\">" + escaped(group.title) + "</h2>\n" +
           overview_html(group) + "</header>\n" + summary_html(group);
    for (const ReportSection& section : group.sections) out += section_html(section);
    out += "</article>\n";
  }
  return links + "</nav>\n" + out;
}

}  // namespace profshim::analysis_detail
