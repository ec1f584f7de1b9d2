// Step boundaries take no lock and allocate memory only for new kernel names, except in call_when_arming()'s function.
#pragma once

#include "session/state.h"

namespace profshim::session {

/// True on the step thread: the first thread that makes a boundary. Counts boundaries of other threads.
bool on_step_thread(State& state);

}  // namespace profshim::session
