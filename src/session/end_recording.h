// Ends a recording: closes the open window, waits for the writer, and removes the spool. Called at exit, before exec,
// or on the thread that holds an ending signal.
#pragma once

#include "profshim/ending_signals.h"
#include "state.h"

namespace profshim::session {

/// Returns output.exit_seconds in ns.
std::int64_t exit_ns(const State& state);
/// Returns how long the end waits without progress of the writer. A program that ends normally waits longer, for a slow
/// disk.
std::int64_t patience_ns(const State& state, End how);
/// Closes the open window, waits for the writer, removes the spool and reports. Once; the threads end in a normal end.
void end_recording(State& state, End how, const ending_signals::Blocked& blocked);

}  // namespace profshim::session
