// Begins a recording: reads the spec, creates the spool and starts the threads.
#pragma once

#include <signal.h>

#include "state.h"

namespace profshim::session {

/// Returns the new state, or null if this process does not record. `job_signals`: signal mask of the calling thread.
State* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals);
/// Returns the mode bits that the spec asks for, kArmed and kStacks excepted.
std::uint32_t mode_bits(const Spec& spec);

}  // namespace profshim::session
