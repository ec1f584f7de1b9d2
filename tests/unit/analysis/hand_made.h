#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/model/timeline.h"
#include "profshim/analysis/views.h"

namespace profshim::analysis_detail::test {

/// Times are in microseconds. `args` are JSON members, as in "\"Seq\": 1".
struct HandEvent {
  std::string category, name;
  double ts = 0, dur = 0;
  int tid = 1;
  std::string args;
  std::string phase = "X";
  int id = 0;
};

inline std::string json_of(const HandEvent& e) {
  std::string text = "{\"ph\": \"" + e.phase + "\", \"cat\": \"" + e.category + "\", \"name\": \"" + e.name +
                     "\", \"pid\": 1, \"tid\": " + std::to_string(e.tid) + ", \"ts\": " + std::to_string(e.ts);
  if (e.phase == "X") text += ", \"dur\": " + std::to_string(e.dur);
  if (e.phase != "X") text += ", \"id\": " + std::to_string(e.id);
  return text + ", \"args\": {" + e.args + "}}";
}

/// Makes a profshim trace if the JSON `members` contain "profshim", else a Kineto trace.
inline Timeline hand_made(int rank, const std::vector<HandEvent>& events, const std::string& members = "",
                          int world_size = 4) {
  std::string text = "{\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
                     ", \"world_size\": " + std::to_string(world_size) + "}, " + members + "\"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : ", ") + json_of(events[i]);
  return load_timeline_bytes(text + "]}", "rank" + std::to_string(rank) + ".json");
}

inline const ViewTable& table(const View& view, const std::string& key) {
  for (const ViewTable& one : view.tables) {
    if (one.key == key) return one;
  }
  throw std::runtime_error("no table " + key);
}

inline std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&cell)) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6g", *number);
    return text;
  }
  return "-";
}

/// Returns the row's cells by column key, or nothing unless exactly one row matches `where`.
inline std::map<std::string, std::string> row(const View& view, const std::string& key,
                                              const std::map<std::string, std::string>& where) {
  const ViewTable& in = table(view, key);
  std::map<std::string, std::string> found;
  int matches = 0;
  for (const auto& cells : in.rows) {
    std::map<std::string, std::string> one;
    for (std::size_t i = 0; i < cells.size(); ++i) one[in.columns[i].key] = text_of(cells[i]);
    bool same = true;
    for (const auto& [column, value] : where) same = same && one[column] == value;
    if (same && ++matches == 1) found = one;
  }
  return matches == 1 ? found : std::map<std::string, std::string>{};
}

}  // namespace profshim::analysis_detail::test
