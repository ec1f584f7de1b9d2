// The end of a recording.
#pragma once

#include "profshim/ending_signals.h"
#include "state.h"

namespace profshim::session {

std::int64_t exit_ns(const State& state);
std::int64_t patience_ns(const State& state, End how);
void end_recording(State& state, End how, const ending_signals::Blocked& blocked);

}  // namespace profshim::session
