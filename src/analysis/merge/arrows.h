// Arrows between ranks: from where a message was sent to where it was received, from a request to where it was carried
// out, from the member that came last to a collective to those that waited for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "clocks.h"

namespace profshim::analysis_detail {

/// One end of an arrow, in the file whose list it is in.
struct ArrowEnd {
  std::uint64_t event = 0;  // it stands behind that one
  std::uint64_t arrow = 0;  // 1, 2, …; the same at both ends
  std::int64_t at_ns = 0;   // by the file's own clock
  bool starts = false;
  enum class Kind : std::uint8_t { kMessage, kRequest, kCollective } kind{};
};
std::string_view name_of(ArrowEnd::Kind kind);

/// A list for each file, in the order of its events. Counts go into `result`.
std::vector<std::vector<ArrowEnd>> find_arrows(const std::vector<RankTrace>& traces,
                                               const std::vector<ClockMap>& clocks, MergeResult& result);

}  // namespace profshim::analysis_detail
