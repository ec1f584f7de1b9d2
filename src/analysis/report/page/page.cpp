// Puts a page together: page.html with the text of a report, its tables and heat maps as HTML, its plots as JSON for
// page.js, and Chart.js. Whatever comes from traces goes through escaped() or script_json().
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "profshim/analysis/report.h"
#include "profshim/base/version.h"
#include "profshim/json.h"

extern "C" {
// src/analysis/report/page/parts.S
#define PART(name) extern const char profshim_part_##name[], profshim_part_##name##_end[];
PART(html) PART(css) PART(js) PART(library)
#undef PART
}

namespace profshim {
namespace {

#define PART(name) \
  std::string_view(profshim_part_##name, static_cast<std::size_t>(profshim_part_##name##_end - profshim_part_##name))

constexpr std::size_t kLongestCell = 300, kLongestTitle = 1000, kLongestSentence = 1000;  // bytes
constexpr std::string_view kNarrowBlank = "\u202f";

// ---- text

/// Not in the middle of a character.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

/// For text and for values of attributes in double quotes. Control characters become signs for them.
std::string escaped(std::string_view text, std::size_t most = kLongestSentence) {
  const std::string_view kept = cut(text, most);
  std::string out;
  out.reserve(kept.size());
  for (const char c : kept) {
    const auto code = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (code < 32 || code == 127) {
          out += "&#" + std::to_string(code == 127 ? 0x2421 : 0x2400 + code) + ";";
        } else {
          out += c;
        }
    }
  }
  return kept.size() < text.size() ? out + "\u2026" : out;
}

/// JSON that may stand in a <script>.
std::string script_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

/// A script that may stand in a <script>: where it has a "</" it is in a text or a pattern.
std::string script_text(std::string_view script) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t next = script.find("</", at);
    out += script.substr(at, next - at);
    if (next == std::string_view::npos) return out;
    out += "<\\/";
    at = next + 2;
  }
}

std::string fixed(double value, int digits) {
  char text[400];  // of the largest double
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// "12 345"
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

/// Of a column whose unit stands at its head. What is not 0 does not look as if it were.
std::string time_text(double us, const TimeUnit& unit) {
  constexpr double kLeast = 0.0005;
  if (us == 0) return "0";
  const double value = us / unit.divisor;
  if (std::fabs(value) < kLeast) return value > 0 ? "&lt;0.001" : "&gt;-0.001";
  return fixed(value, 3);
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; std::fabs(bytes) >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fixed(bytes, unit == 0 ? 0 : 2) + " " + kUnits[unit];
}

// ---- tables

double number_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&cell);
  return number != nullptr ? *number : 0;
}

struct ColumnForm {
  Unit unit = Unit::kPlain;
  bool text = false;
  bool prose = false;  // of sentences, which are shown whole
  TimeUnit time{1, ""};
};

ColumnForm form_of(const ViewTable& table, std::size_t column) {
  ColumnForm form{.unit = table.columns[column].unit};
  form.prose = table.columns[column].key == "problem";
  double most = 0;
  for (const auto& row : table.rows) {
    form.text = form.text || std::holds_alternative<std::string>(row[column]);
    most = std::max(most, std::fabs(number_of(row[column])));
  }
  if (form.unit == Unit::kTime) form.time = time_unit(most);
  return form;
}

std::string cell_html(const Cell& cell, const ColumnForm& form) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    const std::string title = form.prose ? "" : " title=\"" + escaped(*text, kLongestTitle) + "\"";
    return std::string("<td class=\"text") + (form.prose ? " long" : "") + "\"" + title + ">" +
           escaped(*text, form.prose ? kLongestSentence : kLongestCell) + "</td>";
  }
  const char* const open = form.text ? "<td class=\"text\">" : "<td>";
  if (std::holds_alternative<std::monostate>(cell)) return std::string(open) + "-</td>";
  const double value = number_of(cell);
  switch (form.unit) {
    case Unit::kTime:
      return open + time_text(value, form.time) + "</td>";
    case Unit::kBytes:
      return open + bytes_text(value) + "</td>";
    case Unit::kRate:
      return open + fixed(value, 3) + "</td>";
    case Unit::kPercent:
      return "<td class=\"share\" style=\"--share:" + fixed(std::clamp(value, 0.0, 100.0), 1) + "\">" +
             fixed(value, 1) + "\u00a0%</td>";
    case Unit::kPlain:
      break;
  }
  const auto* whole = std::get_if<std::int64_t>(&cell);
  return open + (whole != nullptr ? whole_text(*whole) : fixed(value, 3)) + "</td>";
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

// ---- heat maps

double most_of(const ReportHeatMap& map) {
  double most = 0;
  for (const auto& row : map.values) {
    for (const double value : row) most = std::isnan(value) ? most : std::max(most, value);
  }
  return most;
}

/// Three digits or so.
std::string short_text(double value) {
  if (value == 0) return "0";
  constexpr double kLeast = 0.005;
  return value < kLeast ? "&lt;0.01" : fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
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
      out += "<td style=\"--heat:" + fixed(most > 0 ? std::sqrt(value / most) : 0, 2) + "\">";
      if (map.shows_numbers) out += short_text(value / unit.divisor);
      out += "</td>";
    }
    out += "</tr>\n";
  }
  // By the square root: one that is much waited for does not make all others look alike.
  out += "</tbody></table></div>\n<div class=\"scale\">0 <i></i> " + short_text(most / 4 / unit.divisor) +
         " <i class=\"more\"></i> " + short_text(most / unit.divisor) + " " + unit.name;
  return out + "</div></figure>\n";
}

// ---- sections

/// What a plot shows, for who cannot see it.
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
  const std::size_t height =
      plot.kind == ReportPlot::Kind::kStackedBars ? kAround + kOfBar * plot.labels.size() : kHeight;
  return "<figure class=\"drawn\"><figcaption>" + escaped(plot.title) +
         "</figcaption>\n<div class=\"plot\" style=\"height:" + std::to_string(height) + "px\"><canvas id=\"" +
         escaped(plot.key) + "\" role=\"img\" aria-label=\"" + escaped(plot.title) + "\"></canvas></div></figure>\n" +
         "<details><summary>Numbers: " + escaped(plot.title) + "</summary>\n" + numbers_html(numbers_of(plot)) +
         "</details>\n";
}

std::string section_html(const ReportSection& section) {
  std::string out = "<section id=\"" + escaped(section.key) + "\">\n<h2>" + escaped(section.title) + "</h2>\n";
  for (const std::string& note : section.notes) out += "<p class=\"note\">" + escaped(note) + "</p>\n";
  for (const ReportPlot& plot : section.plots) out += plot_html(plot);
  for (const ReportHeatMap& map : section.heat_maps) out += heat_map_html(map);
  for (const ViewTable& table : section.tables) out += table_html(table);
  return out + "</section>\n";
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

// ---- what page.js reads

std::string texts_json(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? "," : "") + json_string(cut(text, kLongestCell));
  return out + "]";
}

std::string values_json(const std::vector<double>& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ",";
    char number[64];
    std::snprintf(number, sizeof number, "%.6g", values[i]);
    out += std::isfinite(values[i]) ? number : "null";
  }
  return out + "]";
}

std::string plot_json(const ReportPlot& plot) {
  const char* const kind = plot.kind == ReportPlot::Kind::kLines         ? "lines"
                           : plot.kind == ReportPlot::Kind::kStackedBars ? "stacked"
                                                                         : "bars";
  std::string out = "{\"key\":" + json_string(plot.key) + ",\"kind\":\"" + kind + "\"";
  out += ",\"label_axis\":" + json_string(plot.label_axis) + ",\"value_axis\":" + json_string(plot.value_axis);
  out += ",\"labels\":" + texts_json(plot.labels) + ",\"series\":[";
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const ReportPlot::Series& series = plot.series[i];
    out += std::string(i > 0 ? "," : "") + "\n{\"label\":" + json_string(series.label) +
           ",\"quiet\":" + (series.quiet ? "true" : "false") +
           ",\"color\":" + std::to_string(series.color >= 0 ? series.color : static_cast<int>(i)) +
           ",\"values\":" + values_json(series.values) + "}";
  }
  return out + "]}";
}

std::string heat_map_json(const ReportHeatMap& map) {
  std::string out = "{\"key\":" + json_string(map.key) + ",\"rows\":" + texts_json(map.rows) +
                    ",\"columns\":" + texts_json(map.columns) + ",\"values\":[";
  for (std::size_t i = 0; i < map.values.size(); ++i) out += (i > 0 ? ",\n" : "\n") + values_json(map.values[i]);
  return out + "]}";
}

std::string plots_json(const Report& report) {
  std::string plots, maps;
  for (const ReportSection& section : report.sections) {
    for (const ReportPlot& plot : section.plots) plots += (plots.empty() ? "\n" : ",\n") + plot_json(plot);
    for (const ReportHeatMap& map : section.heat_maps) {
      if (!map.shows_numbers) maps += (maps.empty() ? "\n" : ",\n") + heat_map_json(map);
    }
  }
  return "{\"plots\":[" + plots + "],\n\"heat_maps\":[" + maps + "]}";
}

// ---- the page

/// Each {{name}} of the page by its text; what comes in so is not searched again.
std::string filled(std::string_view page, const std::map<std::string, std::string, std::less<>>& texts) {
  std::string out;
  while (true) {
    const std::size_t open = page.find("{{"), close = page.find("}}", open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return out.append(page);
    out.append(page.substr(0, open));
    if (const auto at = texts.find(page.substr(open + 2, close - open - 2)); at != texts.end()) out += at->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace

std::string report_page(const Report& report) {
  std::map<std::string, std::string, std::less<>> texts = {{"title", escaped(report.title)},
                                                           {"version", std::string(kVersion)},
                                                           {"css", std::string(PART(css))},
                                                           {"library", script_text(PART(library))},
                                                           {"js", script_text(PART(js))},
                                                           {"verdict", verdict_html(report.verdict)},
                                                           {"plots", script_json(plots_json(report))}};
  for (const auto& [what, text] : report.overview) {
    texts["overview"] += "<dt>" + escaped(what) + "</dt><dd>" + escaped(text) + "</dd>\n";
  }
  for (const std::string& warning : report.warnings) {
    texts["warnings"] += "<p class=\"note\">" + escaped(warning) + "</p>\n";
  }
  for (const ReportSection& section : report.sections) texts["sections"] += section_html(section);
  // Scripts run only with it. A name in a trace that got past escaped() would have to know it, and it is made of all
  // that the page shows.
  char nonce[32];
  std::snprintf(nonce, sizeof nonce, "%016zx",
                std::hash<std::string>{}(texts["sections"] + texts["plots"] + texts["verdict"]));
  texts["nonce"] = nonce;
  return filled(PART(html), texts);
}

}  // namespace profshim
