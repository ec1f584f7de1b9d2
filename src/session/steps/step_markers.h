#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profshim/spool/view.h"
#include "step_rule.h"

namespace profshim::session {

/// Returns how often note_earlier_marker() saw the name: markers before the recording began.
std::uint32_t earlier_markers(std::string_view name);
/// In a child, which has made none yet.
void forget_earlier_markers();

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
