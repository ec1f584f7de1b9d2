// Reads traces into a form that tests can look at.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace profshim::e2e {

/// An event as a test looks at it. Arguments as text: numbers as written, lists as compact JSON.
struct SeenEvent {
  std::string phase, category, name;
  std::int64_t pid = 0, tid = 0, ts_ns = 0, duration_ns = 0, id = 0;
  std::map<std::string, std::string> args;
};
struct SeenTrace {
  std::string path;
  bool readable = false;
  std::string error;
  std::map<std::string, std::string> metadata;  // top-level keys, values as compact JSON
  std::vector<SeenEvent> events;

  int rank() const;  // distributedInfo.rank, -1 when it is not there
  /// Complete ("X") events of that name.
  std::vector<const SeenEvent*> calls(const std::string& name) const;
  /// How often each name occurs among the "X" events of category `category` ("" = all), the calls of "MPI polling" each
  /// under its own name.
  std::map<std::string, int> counts(const std::string& category = "") const;
  /// N of each ProfilerStep#N, in order of time.
  std::vector<std::int64_t> steps() const;
  /// The text of one member of the "profshim" object, "" when it has none.
  std::string fact(const std::string& key) const;
};
SeenTrace read_seen(const std::string& path);
/// All published traces below a folder (*.pt.trace.json, .gz), by path.
std::vector<SeenTrace> read_folder(const std::string& folder);
/// Paths of the same.
std::vector<std::string> traces_below(const std::string& folder);

/// The value of `key` in a flat JSON object, as text without quotes; "" when it is not there.
std::string json_member(const std::string& object, const std::string& key);

}  // namespace profshim::e2e
