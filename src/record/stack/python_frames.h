// Reads the calling thread's Python frames without the GIL and reference counts: while the thread is in a hook, its
// frames do not change, and keep their code objects alive.
#pragma once

#include <cstddef>
#include <string>

#include "profshim/event.h"

namespace profshim::recorder::python_frames {

/// Returns false without a supported Python. Call once per spool: forgets the texts of the previous spool.
bool prepare(std::string& why_not);

struct Taken {
  std::size_t frames = 0, modules = 0;
};
/// Stores frames and the classes of the nn.Modules whose forward() runs, innermost first, and returns how many. Modules
/// of frames beyond `most_frames` count, too. Calls only PyGILState_GetThisThreadState() and Py_IsInitialized().
Taken take(StringId* frames, std::size_t most_frames, StringId* modules, std::size_t most_modules);

}  // namespace profshim::recorder::python_frames
