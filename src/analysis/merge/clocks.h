#pragma once

#include <vector>

#include "profshim/analysis/merge.h"
#include "rank_trace.h"

namespace profshim::analysis_detail {

/// Converts times of one trace to the clock of the first trace.
struct ClockMap {
  std::int64_t base_ns = 0, origin_ns = 0;
  double offset_ns = 0, drift = 0;
  std::int64_t operator()(std::int64_t ns) const;
};

/// Returns false, with one line in `error`, if a trace cannot be aligned. Removes wrongly matched sync points from
/// `traces`.
bool align_clocks(std::vector<RankTrace>& traces, const MergeOptions& options, std::vector<MergedRank>& ranks,
                  std::vector<ClockMap>& maps, std::vector<std::string>& warnings, std::string& error);

}  // namespace profshim::analysis_detail
