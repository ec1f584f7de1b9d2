// The Python frames of the calling thread, read where they lie.
//
// A thread cannot change its own frames while it is inside one of our hooks, whoever has the GIL, and each frame keeps
// its code object alive: so they are read without the GIL, without reference counts and without a call into Python but
// two that only look something up.
#pragma once

#include <cstddef>
#include <string>

#include "profshim/event.h"

namespace profshim::recorder::python_frames {

/// Cold, once the spool takes texts. False and a reason where this process has no interpreter that we know.
bool prepare(std::string& why_not);

/// The innermost frames first, at most `most`; returns how many. 0 on threads that Python does not know, and while the
/// interpreter starts or ends.
std::size_t take(StringId* frames, std::size_t most);

}  // namespace profshim::recorder::python_frames
