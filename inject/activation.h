#pragma once

#include "profshim/base/clock.h"
#include "profshim/base/rank.h"
#include "profshim/session.h"

namespace profshim::inject {

/// Call when the rank is known: starts the session and the parts that depend on the spec. If process.require_any does
/// not name `use` or an earlier use, only remembers the rank for a later call. `began`: time before the call that told
/// the rank; 0 = now. Call on a job thread.
void activate(session::Use use, const Rank& rank, Ticks began);

/// As activate(), for a process that uses CUDA or PyTorch. If `rank` is unknown: returns false if MPI_Init will tell
/// the rank later, otherwise assumes a job of one rank.
bool activate_by_environment(session::Use use, Rank rank);

/// Forgets what hooks know of the parent process; see know_process().
void leave_parent();

/// True if functions that the job looks up (dlsym() with a handle, cuGetProcAddress()) may be hooks: profshim is asked
/// to record, and PROFSHIM_DLSYM is not 0. Any thread; callable before our constructor.
bool hooks_lookups();

}  // namespace profshim::inject
