#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profshim::e2e {

/// A sorted vector with the functions of a map, which would take most of the time to read a large trace.
class SeenArgs {
 public:
  using value_type = std::pair<std::string, std::string>;
  using const_iterator = std::vector<value_type>::const_iterator;
  using iterator = const_iterator;

  SeenArgs() = default;
  SeenArgs(std::initializer_list<value_type> args) {
    for (const auto& [key, value] : args) set(key, value);
  }
  const_iterator begin() const { return all_.begin(); }
  const_iterator end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }
  const_iterator find(std::string_view key) const;
  std::size_t count(std::string_view key) const { return find(key) == end() ? 0 : 1; }
  bool contains(std::string_view key) const { return find(key) != end(); }
  const std::string& at(std::string_view key) const;
  void reserve(std::size_t size) { all_.reserve(size); }
  /// The last value of a key counts.
  void set(std::string_view key, std::string value);
  bool operator==(const SeenArgs&) const = default;

 private:
  std::vector<value_type> all_;
};

/// `args` holds numbers as written and lists as compact JSON.
struct SeenEvent {
  std::string phase, category, name;
  std::int64_t pid = 0, tid = 0, ts_ns = 0, duration_ns = 0, id = 0;
  SeenArgs args;
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
