#include "phase_rows.h"

#include <algorithm>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {

std::map<RowKey, ProfileRow> phase_rows(const ProfileRank& rank) {
  std::map<RowKey, ProfileRow> rows;
  for (const auto& [name, phase] : rank.phases) {
    const std::vector<std::int64_t> none(rank.steps.size());
    // Such events, and their phase, may cross the boundary of a step.
    const bool others =
        std::any_of(phase.rows.begin(), phase.rows.end(), [](const auto& row) { return row.second.other_threads; });
    rows[{RowKind::kPhase, name}] = {phase.occurrences, phase.time_ns, others};
    rows[{RowKind::kPhaseLaunches, name}] = {phase.launches, none, others};
    ProfileRow& device = rows[{RowKind::kPhaseDevice, name}] = {none, none, others};
    for (const auto& [key, row] : phase.rows) {
      if (key.first != RowKind::kKernel && key.first != RowKind::kCopy) continue;
      for (std::size_t i = 0; i < none.size(); ++i) device.time_ns[i] = bounded_sum(device.time_ns[i], row.time_ns[i]);
    }
  }
  return rows;
}

}  // namespace profshim::analysis_detail
