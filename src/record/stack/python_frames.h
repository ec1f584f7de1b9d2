// Reads the calling thread's Python frames without the GIL and reference counts: while the thread is in a hook, its
// frames do not change, and they keep their code objects alive. Calls only PyGILState_GetThisThreadState() and
// Py_IsInitialized().
#pragma once

#include <cstddef>
#include <string>

#include "profshim/event.h"

namespace profshim::recorder::python_frames {

/// Returns false without a Python of a supported version. Call when the session begins, once the spool takes texts.
bool prepare(std::string& why_not);

/// Stores frames, innermost first. Returns their number; 0 on a thread without Python, or while Python starts or
/// finalizes.
std::size_t take(StringId* frames, std::size_t most);

}  // namespace profshim::recorder::python_frames
