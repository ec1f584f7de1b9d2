#pragma once

#include <signal.h>

#include "recording.h"

namespace profshim::session {

/// Returns null if this process does not record.
Recording* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals);

}  // namespace profshim::session
