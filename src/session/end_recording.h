// Ends a recording: at exit, before exec, or on the thread that holds an ending signal.
#pragma once

#include "profshim/ending_signals.h"
#include "state.h"

namespace profshim::session {

/// Nanoseconds.
std::int64_t exit_ns(const State& state);
/// The longest wait without progress of the writer, in ns.
std::int64_t patience_ns(const State& state, End how);
/// Acts once. Our threads end only in a normal end.
void end_recording(State& state, End how, const ending_signals::Blocked& blocked);

}  // namespace profshim::session
