// Calls of Python functions, built-in functions and nn.Modules (capture.python_calls), in windows only.
#pragma once

namespace profshim::python {

/// Call after the session is active, on a job thread. Does nothing unless the spec asks for calls.
void record_calls();
/// In a child of a fork, on its thread.
void leave_parent();

}  // namespace profshim::python

namespace profshim::python::calls {

// Python 3.12 and later: sys.monitoring (PEP 669) reports the begin and end of each call. Other tools work beside it.

/// Call with the GIL and no exception set. Returns a reason if the calls cannot be seen, else null.
const char* prepare_monitoring();
bool switch_monitoring(bool on);

// Python 3.10 and 3.11: a profile function in C, as sys.setprofile() has one in Python. A thread has one profile
// function: those of others are left alone.

// Call with the GIL.

/// Returns a reason if the calls cannot be seen, else null.
const char* prepare_profile();
/// Sets or removes the function of all threads. May be called again for threads that are new since.
void switch_profile(bool on);

}  // namespace profshim::python::calls
