#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profshim/spool/view.h"
#include "step_rule.h"

namespace profshim::session {

/// A marker of a step among the recorded events.
struct RecordedMarker {
  Ticks at = 0;
  std::optional<std::int64_t> number;
  StringId name = 0;
};

/// Returns the markers of `rule` on thread `tid` in [since, until), by time. The caller keeps their chunks from being
/// freed.
std::vector<RecordedMarker> recorded_markers(const spool::View& view, const StepRule& rule, std::int32_t tid,
                                             Ticks since, Ticks until);

}  // namespace profshim::session
