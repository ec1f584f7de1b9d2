// Phases that are calls of Python functions ([[phase]] python = "Trainer.rollout").
#pragma once

namespace profshim::python {

/// Call after the session is active, on a job thread. Does nothing if the spec has no such phase.
void on_activate();

}  // namespace profshim::python
