// The begin of a recording.
#pragma once

#include <signal.h>

#include "state.h"

namespace profshim::session {

/// The new state, or null when this process does not record.
State* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals);
std::uint32_t mode_bits(const Spec& spec);

}  // namespace profshim::session
