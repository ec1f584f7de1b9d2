#include "toml_document.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <toml.hpp>

#include "spec_keys.h"
#include "text_checks.h"

namespace profshim::spec {
namespace {

// Ordered tables: problems come in the same order everywhere.
using Toml = toml::basic_value<toml::discard_comments, std::map, std::vector>;

/// More than this about one file helps nobody.
constexpr std::size_t kMostProblems = 100;
/// The library counts lines from the start of the text for each position it is asked for.
constexpr std::size_t kMostPositions = 256;

std::string strip_prefix(std::string_view text, std::string_view prefix) {
  return std::string(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

/// The library's message is a drawing of several lines: headline, place, the line of the file, an arrow with a remark.
/// The last arrow is where the mistake is.
Problem syntax_problem(const std::string& drawing, const std::string& name, int fallback_line) {
  Problem problem;
  problem.file = name;
  problem.line = fallback_line;
  std::istringstream lines(drawing);
  std::string line, headline, remark;
  std::getline(lines, headline);
  int number = 0;
  while (std::getline(lines, line)) {
    const std::size_t bar = line.find(" | ");
    if (bar == std::string::npos) continue;
    const std::size_t digit = line.find_first_not_of(' ');
    if (digit < bar) {
      number = std::atoi(line.c_str() + digit);
      continue;
    }
    const std::size_t arrow = line.find_first_of("^~", bar + 3);
    if (arrow == std::string::npos) continue;
    problem.line = number > 0 ? number : fallback_line;
    problem.column = static_cast<int>(arrow - (bar + 3)) + 1;
    const std::size_t words = line.find_first_not_of("^~- ", arrow);
    remark = words == std::string::npos ? "" : line.substr(words);
  }
  headline = strip_prefix(headline, "[error] ");
  if (headline.starts_with("toml::")) {
    const std::size_t colon = headline.find_first_of(": ", 6);
    headline = colon == std::string::npos ? "" : headline.substr(std::min(headline.size(), colon + 1));
  }
  while (!headline.empty() && (headline.front() == ' ' || headline.front() == ':')) headline.erase(0, 1);
  while (headline.ends_with('.')) headline.pop_back();
  while (remark.ends_with('.')) remark.pop_back();
  problem.message = "not valid TOML";
  if (!headline.empty()) problem.message += ": " + headline;
  if (!remark.empty() && remark != "here") problem.message += (headline.empty() ? ": " : " (") + remark;
  if (!remark.empty() && remark != "here" && !headline.empty()) problem.message += ")";
  return problem;
}

class Walk {
 public:
  Walk(const std::string& name, Document& out) : name_(name), out_(out) {
    for (const KeyRow& row : key_rows()) {
      keys_.push_back(row.key);
      if (const auto table = table_of(row.key); !table.empty() && !is_table(table)) tables_.push_back(table);
    }
  }

  void top(const Toml& document) {
    for (const auto& [key, value] : document.as_table()) {
      if (is_table(key)) {
        table(key, value);
      } else if (value.is_table() || is_list_of_tables(value)) {
        const std::string_view near = nearest(key, tables_);
        unknown(value, key, key, "unknown table",
                near.empty() ? known_tables() : "did you mean [" + std::string(near) + "]?");
      } else {
        leaf(key, key, value);
      }
    }
  }

 private:
  bool is_table(std::string_view name) const {
    return std::find(tables_.begin(), tables_.end(), name) != tables_.end();
  }
  static bool is_list_of_tables(const Toml& value) {
    return value.is_array() && !value.as_array().empty() && value.as_array().front().is_table();
  }
  std::string known_tables() const {
    std::string hint = "known tables: ";
    for (const std::string_view table : tables_) hint += (table == tables_.front() ? "" : ", ") + std::string(table);
    return hint;
  }

  void table(const std::string& name, const Toml& value) {
    if (!value.is_table()) {
      const bool list = is_list_of_tables(value);
      Problem& problem = add(name, list ? "must be one table, not a list of tables" : "must be a table");
      problem.hint = "write [" + name + "]";
      place(problem, value, name);
      return;
    }
    for (const auto& [key, member] : value.as_table()) leaf(name + "." + key, key, member);
  }

  void leaf(const std::string& path, const std::string& key, const Toml& value) {
    const KeyRow* const row = find_row(path);
    if (row == nullptr) return unknown(value, key, path, "unknown key", hint_for(path, key));
    Given given;
    given.key = path;
    given.file = name_;
    given.value = convert(value);
    given.origin = name_ + ":" + std::to_string(given.value.line);
    out_.given.push_back(std::move(given));
  }

  /// The nearest full name; or the same last part in another table: "active" -> "schedule.active".
  std::string hint_for(const std::string& path, const std::string& key) const {
    std::string_view near;
    std::vector<std::string_view> siblings;
    for (const std::string_view known : keys_) {
      if (table_of(known) == table_of(path)) siblings.push_back(known.substr(known.rfind('.') + 1));
      if (known.substr(known.rfind('.') + 1) == key) return "did you mean " + std::string(known) + "?";
    }
    near = nearest(key, siblings);
    if (!near.empty()) {
      const std::string table(table_of(path));
      return "did you mean " + (table.empty() ? "" : table + ".") + std::string(near) + "?";
    }
    near = nearest(path, keys_);
    if (!near.empty()) return "did you mean " + std::string(near) + "?";
    if (table_of(path).empty()) return known_tables();
    std::string hint = "known here: ";
    for (const std::string_view sibling : siblings)
      hint += (sibling == siblings.front() ? "" : ", ") + std::string(sibling);
    return hint;
  }

  void unknown(const Toml& value, const std::string& key, const std::string& path, const char* message,
               std::string hint) {
    if (out_.problems.size() >= kMostProblems) return;
    Problem& problem = add(path, message);
    problem.hint = std::move(hint);
    place(problem, value, key);
  }
  Problem& add(const std::string& key, std::string message) {
    Problem problem;
    problem.file = name_;
    problem.key = key.substr(0, 120);
    problem.message = std::move(message);
    return out_.problems.emplace_back(std::move(problem));
  }
  /// The place of the key where it stands on the value's line, else of the value.
  void place(Problem& problem, const Toml& value, const std::string& key) {
    if (++positions_ > kMostPositions) return;
    const toml::source_location at = value.location();
    problem.line = static_cast<int>(at.line());
    problem.column = static_cast<int>(at.column());
    const std::size_t column = at.line_str().substr(0, at.column()).rfind(key);
    const std::size_t in_header = at.line_str().find(key);
    if (column != std::string::npos) {
      problem.column = static_cast<int>(column) + 1;
    } else if (value.is_table() && in_header != std::string::npos) {
      problem.column = static_cast<int>(in_header) + 1;
    }
  }

  Value convert(const Toml& value) {
    Value out;
    if (++positions_ <= kMostPositions) {
      const toml::source_location at = value.location();
      out.line = static_cast<int>(at.line());
      out.column = static_cast<int>(at.column());
    }
    switch (value.type()) {
      case toml::value_t::boolean:
        out.kind = Value::Kind::kBoolean;
        out.boolean = value.as_boolean();
        break;
      case toml::value_t::integer:
        out.kind = Value::Kind::kInteger;
        out.integer = value.as_integer();
        break;
      case toml::value_t::floating:
        out.kind = Value::Kind::kFloat;
        out.number = value.as_floating();
        break;
      case toml::value_t::string:
        out.kind = Value::Kind::kText;
        out.text = value.as_string().str;
        break;
      case toml::value_t::array:
        out.kind = Value::Kind::kList;
        for (const Toml& item : value.as_array()) out.items.push_back(convert(item));
        break;
      case toml::value_t::table:
        out.kind = Value::Kind::kTable;
        for (const auto& [name, member] : value.as_table()) {
          out.items.push_back(convert(member));
          out.items.back().name = name;
        }
        break;
      case toml::value_t::empty:
        out.kind = Value::Kind::kTable;
        break;
      case toml::value_t::offset_datetime:
      case toml::value_t::local_datetime:
      case toml::value_t::local_date:
      case toml::value_t::local_time:
        out.kind = Value::Kind::kDate;
        break;
    }
    return out;
  }

  const std::string& name_;
  Document& out_;
  std::vector<std::string_view> keys_, tables_;
  std::size_t positions_ = 0;
};

}  // namespace

Document read_document(std::string_view text, const std::string& name) {
  Document document;
  if (std::optional<Problem> problem = check_text(text, name)) {
    document.problems.push_back(std::move(*problem));
    return document;
  }
  try {
    std::istringstream stream{std::string(text)};
    const Toml parsed = toml::parse<toml::discard_comments, std::map, std::vector>(stream, name);
    Walk(name, document).top(parsed);
  } catch (const toml::exception& error) {
    document.problems.push_back(syntax_problem(error.what(), name, static_cast<int>(error.location().line())));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    document.problems.push_back(syntax_problem(error.what(), name, 1));
  }
  const auto line_of = [](const auto& x) { return std::pair(x.line, x.column); };
  std::stable_sort(document.problems.begin(), document.problems.end(),
                   [&](const Problem& a, const Problem& b) { return line_of(a) < line_of(b); });
  std::stable_sort(document.given.begin(), document.given.end(),
                   [&](const Given& a, const Given& b) { return line_of(a.value) < line_of(b.value); });
  return document;
}

}  // namespace profshim::spec
