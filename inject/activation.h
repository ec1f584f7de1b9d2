// From a strong event to a recording.
#pragma once

#include "profshim/base.h"

namespace profshim::inject {

/// This process has shown that it is a rank (MPI_Init has returned). Starts the session and what inject/ itself has to
/// do then: NVTX's word on what it lost, the functions that make steps. Does nothing when an ancestor records already.
/// `began`: see session::activate().
void activate(const Rank& rank, Ticks began);

/// The same for a process that uses CUDA or PyTorch: `rank` is what the environment says, and where it says nothing the
/// process is a job of its own. False when that is not known yet, because MPI is there and has not been initialised.
bool activate_by_environment(Rank rank);

/// This process has not shown yet whether it is a rank, and may start others that are: they can see that in what they
/// inherit, by parent_waits().
void note_waiting();
bool parent_waits();

}  // namespace profshim::inject
