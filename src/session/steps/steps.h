// Step boundaries. Called on the job's threads; nothing here locks.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// The first thread that makes a boundary is the step thread. Counts boundaries of other threads.
bool on_step_thread(State& state);

}  // namespace profshim::session
