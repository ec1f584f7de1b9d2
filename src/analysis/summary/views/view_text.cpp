#include <algorithm>

#include "analysis/summary/cell_text.h"
#include "profshim/analysis/summary.h"
#include "profshim/analysis/views.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"

namespace profshim {

using namespace analysis_detail;

namespace {

constexpr std::size_t kLongestName = 55;

std::string name_text(const std::string& name) {
  const std::string text = printable(name);
  return character_count(text) <= kLongestName ? text : shortened(text, kLongestName - 3);
}

std::string number_text(double value, Unit unit, std::string_view time_unit) {
  switch (unit) {
    case Unit::kTime:
      return format_time(value, time_unit);
    case Unit::kBytes:
      return format_bytes(value);
    case Unit::kRate:
      return value >= 1 ? fixed(value, 3, " GB/s") : fixed(value * 1000, 3, " MB/s");
    case Unit::kPercent:
      return fixed(value, 2, "%");
    case Unit::kPlain:
      break;
  }
  return fixed(value, 3);
}

std::string cell_text(const Cell& cell, Unit unit, std::string_view time_unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return name_text(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return unit == Unit::kPlain ? std::to_string(*whole) : number_text(static_cast<double>(*whole), unit, time_unit);
  }
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number, unit, time_unit);
  return "-";
}

bool has_text(const ViewTable& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [=](const auto& row) { return std::holds_alternative<std::string>(row[column]); });
}

void append_line(std::string& out, const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                 const std::vector<bool>& left) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks(widths[i] - character_count(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += left[i] ? cells[i] + blanks : blanks + cells[i];
  }
  out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

void append_table(std::string& out, const ViewTable& table, std::string_view time_unit) {
  std::vector<std::vector<std::string>> lines(1);
  std::vector<bool> left;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    lines[0].push_back(table.columns[i].title);
    left.push_back(has_text(table, i));
  }
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) line.push_back(cell_text(row[i], table.columns[i].unit, time_unit));
  }
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], character_count(line[i]));
  }
  out += table.title + "\n";
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    append_line(out, lines[i], widths, left);
    if (i == 0) append_line(out, rule, widths, left);
  }
  out += "\n";
}

int decimals_of(Unit unit) { return unit == Unit::kRate ? 6 : 3; }

void write_cell(JsonWriter& json, const Cell& cell, Unit unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    json.value(*text);
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    json.value(*whole);
  } else if (const auto* number = std::get_if<double>(&cell)) {
    json.decimal(*number, decimals_of(unit));
  } else {
    json.null();
  }
}

std::string csv_quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + "\"";
}

std::string csv_text(const Cell& cell, Unit unit) {
  if (const auto* text = std::get_if<std::string>(&cell)) return csv_quoted(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return fixed(*number, decimals_of(unit));
  return "";
}

}  // namespace

void limit_rows(View& view, std::int64_t row_limit) {
  if (row_limit < 0) return;
  for (ViewTable& table : view.tables) {
    std::vector<std::vector<Cell>> kept;
    std::int64_t in_group = 0;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.limit_each && i > 0 && table.rows[i][0] != table.rows[i - 1][0]) in_group = 0;
      if (in_group++ < row_limit) kept.push_back(table.rows[i]);
    }
    if (kept.size() == table.rows.size()) continue;
    const std::string& name = table.title.empty() ? table.key : table.title;
    view.notes.push_back(name + ": " + std::to_string(kept.size()) + " of " + std::to_string(table.rows.size()) +
                         " rows; --row-limit -1 shows all");
    table.rows = std::move(kept);
  }
}

std::string view_text(const View& view, std::string_view time_unit) {
  std::string out;
  for (const ViewTable& table : view.tables) {
    if (!table.title.empty() && !table.rows.empty()) append_table(out, table, time_unit);
  }
  for (const std::string& note : view.notes) out += printable(note) + "\n";
  return out;
}

std::string view_json(const View& view) {
  JsonWriter json;
  json.open_object();
  for (const ViewTable& table : view.tables) {
    json.key(table.key).open_list();
    for (const auto& row : table.rows) {
      json.line(2).open_object();
      for (std::size_t i = 0; i < row.size(); ++i) {
        write_cell(json.key(table.columns[i].key), row[i], table.columns[i].unit);
      }
      json.close_object();
    }
    json.close_list().line(1);
  }
  json.key("notes").open_list();
  for (const std::string& note : view.notes) json.value(note);
  json.close_list().close_object();
  return json.text();
}

std::string view_csv(const View& view) {
  std::string out;
  for (const ViewTable& table : view.tables) {
    if (!out.empty()) out += "\n";
    for (std::size_t i = 0; i < table.columns.size(); ++i) out += (i == 0 ? "" : ",") + table.columns[i].key;
    out += "\n";
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) out += (i == 0 ? "" : ",") + csv_text(row[i], table.columns[i].unit);
      out += "\n";
    }
  }
  return out;
}

}  // namespace profshim
