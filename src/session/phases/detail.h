// The detail of events that are recorded now: that of the top level, and that of each phase whose window is near or
// open. A window shows its own detail only.
#pragma once

#include "profshim/spec.h"

namespace profshim::session {

struct State;

/// Returns spool::DetailBits.
std::int64_t bits_of(const Detail& detail);
/// Makes the stacks ready that the top level or a phase asks for. Call once the session is live.
void prepare_detail(State& state);
/// Call on any thread when a phase begins or ceases to want the recording.
void update_detail(State& state);

}  // namespace profshim::session
