// One clock for all traces of a merge.
#pragma once

#include <vector>

#include "profshim/analysis/merge.h"
#include "rank_trace.h"

namespace profshim::analysis_detail {

/// A trace's times to those of the reference.
struct ClockMap {
  std::int64_t base_ns = 0, origin_ns = 0;
  double offset_ns = 0, drift = 0;
  /// `ns`: as the file has it.
  std::int64_t operator()(std::int64_t ns) const;
};

/// Fills clock, offset, drift and error of each rank; false and a line in `error` where a trace has no clock in common
/// with the others. The reference is the first. Takes away what was counted where that cannot be right.
bool align_clocks(std::vector<RankTrace>& traces, const MergeOptions& options, std::vector<MergedRank>& ranks,
                  std::vector<ClockMap>& maps, std::vector<std::string>& warnings, std::string& error);

}  // namespace profshim::analysis_detail
