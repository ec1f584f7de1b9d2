// Reads the calling thread's Python frames without the GIL and reference counts: while the thread is in a hook, its
// frames do not change, and keep their code objects alive.
#pragma once

#include <cstddef>
#include <string>

#include "profshim/event.h"

namespace profshim::recorder::python_frames {

/// Returns false without a supported Python. Call once per spool: forgets the texts of the previous spool.
bool prepare(std::string& why_not);

/// Stores frames, innermost first, and returns how many. Calls only PyGILState_GetThisThreadState() and
/// Py_IsInitialized().
std::size_t take(StringId* frames, std::size_t most);

}  // namespace profshim::recorder::python_frames
