#pragma once

#include "abi.h"
#include "profshim/base/clock.h"

namespace profshim::mpi {

bool mpi_was_seen();
/// Returns true if this call started a recording. `session_comm`: address of an MPI session's first communicator; null
/// after MPI_Init. Job's thread, outside any LayerScope.
bool activate_rank(const void* session_comm, Ticks began);
/// Call once when a recording has begun in a process that has called MPI_Init. Job's thread.
void begin_with_world();
/// Records MPI_Init itself if a window has begun (steps.source = "none").
void record_initialization(HookId hook, Ticks began, Ticks ended, bool fortran);
/// Returns nanoseconds. Call on the writer thread.
double measure_call_cost();

}  // namespace profshim::mpi
