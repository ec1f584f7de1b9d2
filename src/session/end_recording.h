#pragma once

#include "profshim/ending_signals.h"
#include "state.h"

namespace profshim::session {

/// output.exit_seconds in nanoseconds.
std::int64_t exit_ns(const State& state);
/// Longest wait without progress of the writer.
std::int64_t patience_ns(const State& state, End how);
/// Runs on the thread that calls exit(), or else on the collector thread. Joins our threads only for End::kNormal.
void end_recording(State& state, End how, const ending_signals::Blocked& blocked);

}  // namespace profshim::session
