// This reader uses RapidJSON directly, since profshim's reader could hide a difference.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace profshim::replay {

struct Row {
  char phase = 0;
  std::string category, name;
  std::string pid, tid;
  std::int64_t begin_ns = 0, duration_ns = 0;  // begin_ns is Unix time
  std::int64_t id = 0;
  std::map<std::string, std::string> args;  // values are compact JSON

  bool is_call() const { return category == "cuda_runtime" || category == "cuda_driver"; }
  bool is_work() const { return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset"; }
  std::int64_t end_ns() const { return begin_ns + duration_ns; }
  std::int64_t number(const std::string& key) const;
  std::int64_t number_or(const std::string& key, std::int64_t otherwise) const;
};

struct Trace {
  using Object = std::vector<std::pair<std::string, std::string>>;
  std::vector<Object> devices;
  std::int64_t base_ns = 0;
  std::vector<Row> rows;
};

/// Throws std::runtime_error if `json` is no trace or has fractions of a nanosecond.
Trace trace_rows(const std::string& json);
std::string unpacked_file(const std::string& path);
/// Parses "[1,2,3]".
std::vector<std::int64_t> numbers_of(const std::string& list);
std::string line_of(const Row& row);

}  // namespace profshim::replay
