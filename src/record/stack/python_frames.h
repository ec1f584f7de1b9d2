// The calling thread's Python frames, read without the GIL and reference counts: a thread inside our hook cannot change
// its frames, which keep their code objects alive. Only PyGILState_GetThisThreadState() and Py_IsInitialized() are
// called; they only look up state.
#pragma once

#include <cstddef>
#include <string>

#include "profshim/event.h"

namespace profshim::recorder::python_frames {

/// False without an interpreter of a supported version. Called at activation, once the spool takes texts.
bool prepare(std::string& why_not);

/// Innermost frame first. Returns 0 on a thread without Python, and while Python starts or finalizes.
std::size_t take(StringId* frames, std::size_t most);

}  // namespace profshim::recorder::python_frames
