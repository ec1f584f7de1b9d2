// Values that all rows of a trace share, from a first pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profshim/trace/reader.h"

namespace profshim::convert_detail {

struct RankInfo {
  std::optional<std::int64_t> rank;
  std::string host;
  std::int64_t first_pid = INT64_MIN;  // lowest pid of the rank in a merged trace
  struct Step {
    std::int64_t begin_ns, end_ns, number;
  };
  std::vector<Step> steps;
};

struct FileInfo {
  std::string path, error;
  bool truncated = false;
  std::uint64_t damaged = 0;              // places where events are missing
  std::vector<std::string> warnings;      // each starts with the path
  std::uint64_t events = 0, rounded = 0;  // rounded: events with times finer than a nanosecond
  std::int64_t base_ns = 0;
  bool has_wall_clock = false;
  std::optional<std::int64_t> window;
  std::vector<RankInfo> ranks;
  std::vector<std::pair<std::string, std::string>> members;

  /// Returns ranks.size() if unknown.
  std::size_t rank_at(std::optional<std::int64_t> pid) const;
  const RankInfo* rank_of(const ReadEvent& event) const;
  std::optional<std::int64_t> step_at(const RankInfo& rank, std::int64_t trace_ns) const;
};

FileInfo read_file_info(const std::string& path);

}  // namespace profshim::convert_detail
