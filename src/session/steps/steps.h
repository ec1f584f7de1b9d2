#pragma once

#include "session/state.h"

namespace profshim::session {

/// The one thread whose boundaries count: the first that makes one.
bool on_step_thread(State& state);

}  // namespace profshim::session
