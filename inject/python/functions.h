// Phases that are calls of Python functions ([[phase]] python = "Trainer.rollout").
#pragma once

namespace profshim::python {

/// Call after the session is active, on a job thread. Does nothing if the spec has no such phase.
void on_activate();

// Python 3.10 and 3.11: a frame evaluation function (PEP 523) sees each call of a Python function begin and end.

/// Call with the GIL. Returns a reason if the calls cannot be seen, else null.
const char* install_eval_frame();

// Python 3.12 and later: sys.monitoring (PEP 669) reports each begin and end of a function that makes a phase. Other
// functions cost nothing after their first call.

/// Call with the GIL. Returns a reason if the calls cannot be seen, else null.
const char* install_monitoring();

}  // namespace profshim::python
