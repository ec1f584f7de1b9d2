#include <cmath>

#include "escape.h"
#include "parts.h"
#include "profshim/base/text/number_text.h"
#include "profshim/json/writer.h"

namespace profshim::analysis_detail {
namespace {

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).open_list();
  for (const std::string& text : texts) json.value(cut(text, kMaxCellBytes));
  json.close_list();
}

constexpr int kRounded = 6, kExact = 15;  // digits

void write_values(JsonWriter& json, const std::vector<double>& values, int digits = kRounded) {
  json.open_list();
  for (const double value : values) json.raw(std::isfinite(value) ? rounded_text(value, digits) : "null");
  json.close_list();
}

const char* kind_name(ReportPlot::Kind kind) {
  switch (kind) {
    case ReportPlot::Kind::kLines:
      return "lines";
    case ReportPlot::Kind::kStackedBars:
      return "stacked";
    case ReportPlot::Kind::kBars:
      return "bars";
    case ReportPlot::Kind::kCurves:
      return "curves";
    case ReportPlot::Kind::kStackedCurves:
      break;
  }
  return "stacked_curves";
}

void write_plot(JsonWriter& json, const ReportPlot& plot) {
  json.line(0).open_object().member("key", plot.key).member("kind", kind_name(plot.kind));
  json.member("in_bytes", plot.unit == Unit::kBytes);
  json.member("label_axis", plot.label_axis).member("value_axis", plot.value_axis);
  write_texts(json, "labels", plot.labels);
  json.key("times");
  write_values(json, plot.times_us, kExact);
  json.key("series").open_list();
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const ReportPlot::Series& series = plot.series[i];
    json.line(0).open_object().member("label", series.label).member("quiet", series.quiet);
    json.member("color", series.color >= 0 ? series.color : static_cast<int>(i)).key("values");
    write_values(json, series.values, plot.unit == Unit::kBytes ? kExact : kRounded);
    json.close_object();
  }
  json.close_list().close_object();
}

void write_heat_map(JsonWriter& json, const ReportHeatMap& map) {
  json.line(0).open_object().member("key", map.key);
  write_texts(json, "rows", map.rows);
  write_texts(json, "columns", map.columns);
  json.key("values").open_list();
  for (const std::vector<double>& row : map.values) {
    json.line(0);
    write_values(json, row);
  }
  json.close_list().close_object();
}

}  // namespace

std::string plots_json(const Report& report) {
  std::vector<const ReportSection*> sections;
  for (const ReportSection& section : report.sections) sections.push_back(&section);
  for (const Report& group : report.groups) {
    for (const ReportSection& section : group.sections) sections.push_back(&section);
  }
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.open_object().key("plots").open_list();
  for (const ReportSection* const section : sections) {
    for (const ReportPlot& plot : section->plots) write_plot(json, plot);
  }
  json.close_list().line(0).key("heat_maps").open_list();
  for (const ReportSection* const section : sections) {
    for (const ReportHeatMap& map : section->heat_maps) {
      if (!map.shows_numbers) write_heat_map(json, map);
    }
  }
  return json.close_list().close_object().text();
}

}  // namespace profshim::analysis_detail
