#pragma once

#include <vector>

#include "profshim/analysis/merge.h"
#include "rank_trace.h"

namespace profshim::analysis_detail {

/// Converts a trace's times, relative to `base_ns`, to absolute times of the first trace's clock.
struct ClockMap {
  std::int64_t base_ns = 0, origin_ns = 0;
  double offset_ns = 0, drift = 0;
  std::int64_t operator()(std::int64_t ns) const;
};

/// Returns false, with one line in `error`, if a trace cannot be aligned. Drops sync points
/// of `traces` matched by counting if they contradict the clocks.
bool align_clocks(std::vector<RankTrace>& traces, const MergeOptions& options, std::vector<MergedRank>& ranks,
                  std::vector<ClockMap>& maps, std::vector<std::string>& warnings, std::string& error);

}  // namespace profshim::analysis_detail
