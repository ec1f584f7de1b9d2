// MPI_Init, MPI_Finalize and MPI_Abort: where a recording begins and is made safe.
#pragma once

#include "abi.h"
#include "profshim/base.h"

namespace profshim::mpi {

/// Has mpi_is_up() been called?
bool mpi_was_seen();
/// A communicator that this process may take its rank from exists now: MPI_COMM_WORLD after MPI_Init (null), or the
/// first one made in an MPI session (its address). Activates the session, once. Job's thread, outside any LayerScope.
/// `began`: when the call that brought it up began. True when this was the call that did it and the process records.
bool mpi_is_up(const void* session_comm, Ticks began);
/// Records the call that initialised MPI, if a window begins with it.
void record_initialization(HookId hook, Ticks began, Ticks ended, bool fortran);
/// Nanoseconds that recording a call takes of its thread, measured on the calling one, which is none of the job's.
double call_cost();

}  // namespace profshim::mpi
