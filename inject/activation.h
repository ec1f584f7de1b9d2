// Starts the recording once the process has proved to be a rank.
#pragma once

#include "profshim/base/clock.h"
#include "profshim/base/rank.h"

namespace profshim::inject {

/// Call this when the process has shown that it is a rank (MPI_Init has returned, a communicator is created). Starts
/// the session and the parts of inject/ that depend on the spec: NVTX, CUDA, PyTorch, steps by symbol. Does nothing if
/// an ancestor process records already. `began`: see session::activate(). Job's thread.
void activate(const Rank& rank, Ticks began);

/// Activates a process that uses CUDA or PyTorch. `rank` comes from the environment; if the environment names none, the
/// process is a job of its own with one rank. Returns false if MPI is loaded and not yet initialized: MPI will tell the
/// rank then.
bool activate_by_environment(Rank rank);

/// Writes into the inherited environment variable that this process does not know yet whether it is a rank. Child
/// processes read it with parent_waits(): they may be the ranks.
void note_waiting();
bool parent_waits();

}  // namespace profshim::inject
