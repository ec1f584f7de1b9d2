// Starts the recording once the process has proved to be a rank.
#pragma once

#include "profshim/base/clock.h"
#include "profshim/base/rank.h"

namespace profshim::inject {

/// Call when the process is known as a rank. Starts the session and the parts that depend on the spec: NVTX, CUDA,
/// PyTorch, steps by symbol. Does nothing if an ancestor records. `began`: see session::activate(). Job's thread.
void activate(const Rank& rank, Ticks began);

/// For a process that uses CUDA or PyTorch. Without a rank in the environment it is a job of one rank. Returns false if
/// MPI is loaded and will tell the rank.
bool activate_by_environment(Rank rank);

/// Tells children, which call parent_waits(), that they may be the ranks.
void note_waiting();
bool parent_waits();

}  // namespace profshim::inject
