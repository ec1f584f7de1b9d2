// The Python frames of the calling thread, read directly from the interpreter's memory.
//
// A thread cannot change its own frames while it is inside one of our hooks, whichever thread has the GIL, and each
// frame keeps its code object alive. So the frames are read without the GIL and without reference counts. The only
// calls into Python are PyGILState_GetThisThreadState() and Py_IsInitialized(), which only look up state.
#pragma once

#include <cstddef>
#include <string>

#include "profshim/event.h"

namespace profshim::recorder::python_frames {

/// Finds the interpreter. Returns false and a reason if this process has none, or one of an unknown version. At
/// activation, once the spool takes texts.
bool prepare(std::string& why_not);

/// Writes the texts of at most `most` frames, innermost first, and returns their number. Returns 0 on threads that
/// Python does not know, and while the interpreter starts or finalizes.
std::size_t take(StringId* frames, std::size_t most);

}  // namespace profshim::recorder::python_frames
