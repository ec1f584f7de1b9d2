#include "document.h"

#include <algorithm>
#include <cstddef>

#include "library.h"
#include "profshim/base/text/message_text.h"
#include "spec/check/checks.h"
#include "spec/retired_keys.h"
#include "spec/spec_keys.h"
#include "syntax.h"

namespace profshim::spec {
namespace {

constexpr std::size_t kMostProblems = 100;
/// Later values get no line: finding a position takes linear time.
constexpr std::size_t kMostPositions = 256;

std::string_view line_of(std::string_view text, int line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find_first_of("\r\n"));
}

/// After check_syntax(), a refusal of the library nearly always means that a key or a table is given twice.
Problem refused(const TomlRefusal& refusal, std::string_view text, const std::string& name) {
  const std::string_view line = line_of(text, refusal.place.line);
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  if (refusal.message.find("exist") == std::string::npos && refusal.message.find("defined") == std::string::npos) {
    return syntax_problem(name, refusal.place.line, refusal.place.column, refusal.message);
  }
  const bool table = line.substr(begin, 1) == "[";
  std::string_view given = line.substr(begin, table ? line.rfind(']') - begin + 1 : line.find('=') - begin);
  given = given.substr(0, given.find_last_not_of(" \t") + 1);
  return syntax_problem(name, refusal.place.line, static_cast<int>(begin) + 1, quoted(given) + " is given twice");
}

constexpr std::string_view kPhase = "phase";  // a list of tables

class Walk {
 public:
  Walk(std::string_view text, const std::string& name, Document& out) : text_(text), name_(name), out_(out) {
    for (const KeyRow& row : key_rows()) {
      keys_.push_back(row.key);
      if (const auto table = table_of(row.key); !table.empty() && !is_table(table)) tables_.push_back(table);
    }
  }

  void top(const Toml& document) {
    for (const auto& [key, value] : document.as_table()) {
      if (is_table(key) || is_retired_table(key)) {
        table(key, value);
      } else if ((value.is_table() || is_list_of_tables(value)) && find_row(key) == nullptr) {
        std::vector<std::string_view> names = tables_;
        names.push_back(kPhase);
        const std::string_view near = nearest(key, names);
        const std::string shown = near == kPhase ? "[[phase]]" : "[" + std::string(near) + "]";
        unknown(value, key, key, "unknown table", near.empty() ? known_tables() : "did you mean " + shown + "?");
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
    return hint + ", [[phase]]";
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
    if (find_row(path) == nullptr && find_retired(path) == nullptr)
      return unknown(value, key, path, "unknown key", hint_for(path, key));
    Given given;
    given.key = path;
    given.file = name_;
    given.value = convert(value);
    given.origin = name_ + ":" + std::to_string(given.value.line);
    out_.given.push_back(std::move(given));
  }

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
  void place(Problem& problem, const Toml& value, const std::string& key) {
    if (++positions_ > kMostPositions) return;
    const Place at = place_of(value);
    problem.line = at.line;
    problem.column = at.column;
    const std::string_view line = line_of(text_, at.line);
    const std::size_t column = line.substr(0, static_cast<std::size_t>(at.column)).rfind(key);
    const std::size_t in_header = line.find(key);
    if (column != std::string::npos) {
      problem.column = static_cast<int>(column) + 1;
    } else if (value.is_table() && in_header != std::string::npos) {
      problem.column = static_cast<int>(in_header) + 1;
    }
  }

  Value convert(const Toml& value) {
    Value out;
    if (++positions_ <= kMostPositions) {
      const Place at = place_of(value);
      out.line = at.line;
      out.column = at.column;
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
        out.text = text_of(value);
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

  const std::string_view text_;
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
  if (std::optional<Problem> problem = check_syntax(text, name)) {
    document.problems.push_back(std::move(*problem));
    return document;
  }
  const std::variant<Toml, TomlRefusal> parsed = parse_toml(text, name);
  if (const auto* const refusal = std::get_if<TomlRefusal>(&parsed)) {
    document.problems.push_back(refused(*refusal, text, name));
    return document;
  }
  Walk(text, name, document).top(std::get<Toml>(parsed));
  const auto place_of = [](const auto& x) { return std::pair(x.line, x.column); };
  std::stable_sort(document.problems.begin(), document.problems.end(),
                   [&](const Problem& a, const Problem& b) { return place_of(a) < place_of(b); });
  std::stable_sort(document.given.begin(), document.given.end(),
                   [&](const Given& a, const Given& b) { return place_of(a.value) < place_of(b.value); });
  return document;
}

}  // namespace profshim::spec
