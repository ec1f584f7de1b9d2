// Finds arrows (flow events): from send to receive, from RPC request to execution, and from the last rank in a
// collective to the ranks that waited for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "clocks.h"

namespace profshim::analysis_detail {

struct ArrowEnd {
  std::uint64_t event = 0;  // index in the file; this end follows that event
  std::uint64_t arrow = 0;
  std::int64_t at_ns = 0;  // by the trace's clock
  bool starts = false;
  enum class Kind : std::uint8_t { kMessage, kRequest, kCollective } kind{};
};
std::string_view name_of(ArrowEnd::Kind kind);

/// Returns each file's arrow ends, sorted by event. Counts arrows in `result`.
std::vector<std::vector<ArrowEnd>> find_arrows(const std::vector<RankTrace>& traces,
                                               const std::vector<ClockMap>& clocks, MergeResult& result);

}  // namespace profshim::analysis_detail
