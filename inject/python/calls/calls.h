// Calls of Python functions, built-in functions and nn.Modules (capture.python_calls), in windows only.
#pragma once

namespace profshim::python {

/// Call after the session is active, on a job thread. Does nothing unless the spec asks for calls.
void record_calls();
/// In a child of a fork, on its thread.
void leave_parent();

}  // namespace profshim::python
