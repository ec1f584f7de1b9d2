// What the rows of a file have in common, and what stands behind its events in old traces: gathered in a first pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profshim/trace.h"

namespace profshim::convert_detail {

struct RankFacts {
  std::optional<std::int64_t> rank;
  std::string host;
  std::int64_t first_pid = INT64_MIN;  // its processes have this number or a larger one, up to the next rank's
  struct Step {
    std::int64_t begin_ns, end_ns, number;
  };
  std::vector<Step> steps;  // by time
};

struct FileFacts {
  std::string path, error;
  bool truncated = false;
  std::string why_truncated;
  std::uint64_t events = 0, rounded = 0;  // with times finer than a nanosecond
  std::int64_t base_ns = 0;
  bool has_wall_clock = false;
  std::optional<std::int64_t> window;
  std::vector<RankFacts> ranks;                              // one, or those of a merged trace, by first_pid
  std::vector<std::pair<std::string, std::string>> members;  // beside the events

  /// The place in `ranks` of whose process that is; ranks.size() for what is of no rank in particular.
  std::size_t rank_at(std::optional<std::int64_t> pid) const;
  /// Null where rank_at() knows none.
  const RankFacts* rank_of(const ReadEvent& event) const;
  std::optional<std::int64_t> step_at(const RankFacts& rank, std::int64_t trace_ns) const;
};

FileFacts gather_file_facts(const std::string& path);

}  // namespace profshim::convert_detail
