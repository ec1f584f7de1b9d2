// Step boundaries, on the job's threads. No locks, except in call_when_arming()'s function.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// True on the step thread, the first that makes a boundary. Counts boundaries of other threads.
bool on_step_thread(State& state);

}  // namespace profshim::session
