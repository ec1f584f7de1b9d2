// Arrows (flow events) between ranks: from a send to its receive, from an RPC request to its execution, from the last
// member of a collective to the members that waited for it. Called by merge_traces() on its caller's thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "clocks.h"

namespace profshim::analysis_detail {

/// One end of an arrow. The file is given by the list that holds the end.
struct ArrowEnd {
  std::uint64_t event = 0;  // index of the event that the end is written behind
  std::uint64_t arrow = 0;  // 1, 2, ...; the same number at both ends
  std::int64_t at_ns = 0;   // by the file's own clock
  bool starts = false;
  enum class Kind : std::uint8_t { kMessage, kRequest, kCollective } kind{};
};
std::string_view name_of(ArrowEnd::Kind kind);

/// Returns a list for each file, ordered by event. Writes the counts into `result`.
std::vector<std::vector<ArrowEnd>> find_arrows(const std::vector<RankTrace>& traces,
                                               const std::vector<ClockMap>& clocks, MergeResult& result);

}  // namespace profshim::analysis_detail
