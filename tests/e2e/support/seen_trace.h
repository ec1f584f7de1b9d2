#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace profshim::e2e {

/// `args` holds numbers as written and lists as compact JSON.
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

  int rank() const;  // distributedInfo.rank, or -1
  /// Returns the "X" events called `name`.
  std::vector<const SeenEvent*> calls(const std::string& name) const;
  /// Counts calls by name; "" = all categories. Calls in "MPI polling" events count under their own names.
  std::map<std::string, int> counts(const std::string& category = "") const;
  /// Returns step numbers in order of time.
  std::vector<std::int64_t> steps() const;
  /// Returns a member of the "profshim" object, or "".
  std::string property(const std::string& key) const;
};
SeenTrace read_seen(const std::string& path);
/// Returns the traces sorted by path.
std::vector<SeenTrace> read_folder(const std::string& folder);
std::vector<std::string> traces_below(const std::string& folder);

/// Returns a member as JSON, but a string without its quotes, or "" if missing.
std::string json_member(const std::string& object, const std::string& key);

}  // namespace profshim::e2e
