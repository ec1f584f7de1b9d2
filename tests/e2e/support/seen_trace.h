// Reads traces into a form that tests can look at.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace profshim::e2e {

/// An event of a trace. Arguments are text: numbers as written, lists as compact JSON.
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

  int rank() const;  // distributedInfo.rank; -1 if missing
  /// Returns the complete ("X") events of that name.
  std::vector<const SeenEvent*> calls(const std::string& name) const;
  /// Counts the "X" events of `category` ("" = all) by name. The calls in "MPI polling" events count under their own
  /// names.
  std::map<std::string, int> counts(const std::string& category = "") const;
  /// Returns N of each ProfilerStep#N, in order of time.
  std::vector<std::int64_t> steps() const;
  /// Returns the text of a member of the "profshim" object, "" if it is missing.
  std::string property(const std::string& key) const;
};
SeenTrace read_seen(const std::string& path);
/// Reads all published traces below a folder, sorted by path.
std::vector<SeenTrace> read_folder(const std::string& folder);
/// Returns the paths of all published traces below a folder.
std::vector<std::string> traces_below(const std::string& folder);

/// Returns the value of `key` in a flat JSON object as text without quotes, "" if it is missing.
std::string json_member(const std::string& object, const std::string& key);

}  // namespace profshim::e2e
