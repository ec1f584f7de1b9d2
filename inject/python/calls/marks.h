// Commits the begins and ends of calls. All functions need the GIL and no exception set.
#pragma once

#include "call_sites.h"

namespace profshim::python::calls {

/// The frame that a callback is about, which is the innermost.
enum class Innermost : std::uint8_t { kBegins, kGoesOn };

/// Returns true if calls are recorded. Commits the stack first if that is due: without the innermost frame if it
/// begins.
bool ready(Innermost innermost);
// Call after ready().
void begin(std::uint32_t site);
void end(std::uint32_t function);

/// Call when the callbacks have been switched on.
void begin_recording();
/// In a child of a fork, whose spool has no mark of this thread.
void forget_thread();

}  // namespace profshim::python::calls
