// Python 3.10 and 3.11: a profile function in C, as sys.setprofile() has one in Python. A thread has one profile
// function: those of others are left alone.
#pragma once

namespace profshim::python::calls {

// Call with the GIL.

/// Returns a reason if the calls cannot be seen, else null.
const char* prepare_profile();
/// Sets or removes the function of all threads. May be called again for threads that are new since.
void switch_profile(bool on);

}  // namespace profshim::python::calls
