#pragma once

#include <signal.h>

#include "state.h"

namespace profshim::session {

/// Returns null if this process does not record.
State* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals);
/// Returns recorder::mode() for `spec`, without kArmed and the bits of Detail.
std::uint32_t mode_bits(const Spec& spec);

}  // namespace profshim::session
