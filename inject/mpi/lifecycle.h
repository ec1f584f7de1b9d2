// The beginning of a rank: activation by the call that initializes MPI.
#pragma once

#include "abi.h"
#include "profshim/base/clock.h"

namespace profshim::mpi {

/// Returns true if activate_rank() has been called.
bool mpi_was_seen();
/// Activates the session, once, when the first communicator that tells the rank exists. `session_comm`: null after
/// MPI_Init, or the address of the first communicator made in an MPI session. `began`: begin of the call that made it.
/// Runs on a thread of the job, outside any LayerScope. Returns true if this call activated the process and it records.
bool activate_rank(const void* session_comm, Ticks began);
/// Records the call that initialized MPI, if a window begins with it.
void record_initialization(HookId hook, Ticks began, Ticks ended, bool fortran);
/// Returns the nanoseconds that recording a call costs its thread. Runs on a thread that is not the job's.
double measure_call_cost();

}  // namespace profshim::mpi
