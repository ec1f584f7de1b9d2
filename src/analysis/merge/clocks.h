// One clock for several traces. Called by merge_traces() and by the report, on the caller's thread.
#pragma once

#include <vector>

#include "profshim/analysis/merge.h"
#include "rank_trace.h"

namespace profshim::analysis_detail {

/// Converts times of one trace to the clock of the reference, the first trace.
struct ClockMap {
  std::int64_t base_ns = 0, origin_ns = 0;
  double offset_ns = 0, drift = 0;
  /// `ns`: the time as the file has it.
  std::int64_t operator()(std::int64_t ns) const;
};

/// Fills in clock, offset, drift and error of each rank, and a map for each trace. Returns false with one line in
/// `error` if a trace shares no clock with the others. Removes sync points that cannot be right from `traces`.
bool align_clocks(std::vector<RankTrace>& traces, const MergeOptions& options, std::vector<MergedRank>& ranks,
                  std::vector<ClockMap>& maps, std::vector<std::string>& warnings, std::string& error);

}  // namespace profshim::analysis_detail
