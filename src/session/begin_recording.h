#pragma once

#include <pthread.h>
#include <signal.h>

#include "state.h"

namespace profshim::session {

/// Starts a thread with all signals blocked: a signal handler of the job must never run on our threads. Returns 0 or an
/// errno.
int start_thread(pthread_t& thread, void* (*body)(void*), void* argument);
/// Returns null if this process does not record.
State* begin_recording(const Rank& mpi_rank, const sigset_t& job_signals);
/// Returns recorder::mode() for `spec`, without kArmed and the bits of Detail.
std::uint32_t mode_bits(const Spec& spec);

}  // namespace profshim::session
