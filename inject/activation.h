// Starts the recording once the process is known to be a rank.
#pragma once

#include "profshim/base/clock.h"
#include "profshim/base/rank.h"

namespace profshim::inject {

/// Starts the session and the parts that depend on the spec: NVTX, CUDA, PyTorch, steps by symbol. Does nothing if a
/// parent process records. `began`: see session::activate(). Runs on the job's thread.
void activate(const Rank& rank, Ticks began);

/// Starts the session of a process that uses CUDA or PyTorch. If `rank` is unknown: returns false if MPI is loaded and
/// will tell the rank later, else takes the process for a job of one rank.
bool activate_by_environment(Rank rank);

/// Tells child processes, which may be the ranks, that this process waits for a rank: their parent_waits() is true.
void note_waiting();
bool parent_waits();

}  // namespace profshim::inject
