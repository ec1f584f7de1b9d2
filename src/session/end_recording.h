// Ends a recording: after exit() on the calling thread, otherwise (exec, _exit, signal) on the collector thread.
#pragma once

#include "profshim/ending_signals.h"
#include "state.h"

namespace profshim::session {

/// Returns output.exit_seconds in nanoseconds.
std::int64_t exit_ns(const State& state);
/// Returns the longest wait (ns) without progress of the writer.
std::int64_t patience_ns(const State& state, End how);
/// Called once. Waits for the end of our threads only for End::kNormal.
void end_recording(State& state, End how, const ending_signals::Blocked& blocked);

}  // namespace profshim::session
