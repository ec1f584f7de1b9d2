// Step boundaries: what the parts of src/session/steps share. Called on the job's threads; nothing here locks.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// Returns true if the calling thread is the step thread: the first thread that makes a boundary. Counts boundaries of
/// other threads.
bool on_step_thread(State& state);

}  // namespace profshim::session
