#include "differences.h"

#include <algorithm>

namespace profshim::replay {
namespace {

struct Line {
  std::string text, category;
  bool operator<(const Line& other) const { return text < other.text; }
};

std::vector<Line> sorted_lines(const std::vector<Row>& rows) {
  std::vector<Line> lines;
  for (const Row& row : rows) lines.push_back({line_of(row), row.phase == 'M' ? row.name : row.category});
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string text_of(Trace::Object object, bool in_any_order) {
  if (in_any_order) std::sort(object.begin(), object.end());
  std::string text;
  for (const auto& [key, value] : object) text += (text.empty() ? "" : ", ") + key + " = " + value;
  return text;
}

void compare_devices(const std::vector<Trace::Object>& expected, const std::vector<Trace::Object>& ours,
                     bool in_any_order, Comparison& out) {
  for (std::size_t i = 0; i < std::max(expected.size(), ours.size()); ++i) {
    const std::string theirs = i < expected.size() ? text_of(expected[i], in_any_order) : "nothing";
    const std::string own = i < ours.size() ? text_of(ours[i], in_any_order) : "nothing";
    if (theirs == own)
      ++out.equal["deviceProperties"];
    else
      out.differences.push_back("deviceProperties: expected " + theirs + "\n  ours " + own);
  }
}

std::string shortened(const std::string& line) {
  constexpr std::size_t kMostName = 60;
  const std::size_t open = line.find('"'), close = line.find('"', open + 1);
  if (close == std::string::npos || close - open <= kMostName) return line;
  return line.substr(0, open + kMostName) + "..." + line.substr(close);
}

}  // namespace

Comparison compare(const Expectation& expected, const Trace& ours, const Dialect& dialect) {
  Comparison out;
  compare_devices(expected.devices, ours.devices, dialect.other_property_order, out);
  const std::vector<Line> theirs = sorted_lines(expected.rows),
                          own = sorted_lines(comparable_rows(ours, dialect, expected.has_names));
  std::size_t i = 0, j = 0;
  while (i < theirs.size() || j < own.size()) {
    if (j == own.size() || (i < theirs.size() && theirs[i] < own[j])) {
      out.differences.push_back("missing: " + theirs[i++].text);
    } else if (i == theirs.size() || own[j] < theirs[i]) {
      out.differences.push_back("not in the original: " + own[j++].text);
    } else {
      ++out.equal[theirs[i].category];
      ++i;
      ++j;
    }
  }
  return out;
}

std::string first_of(const std::vector<std::string>& differences) {
  constexpr std::size_t kShown = 8;
  std::string text = std::to_string(differences.size()) + " differences\n";
  for (std::size_t i = 0; i < std::min(kShown, differences.size()); ++i) text += shortened(differences[i]) + '\n';
  return text;
}

}  // namespace profshim::replay
