// Polling: a program that waits in a loop of MPI_Test, MPI_Testany or MPI_Iprobe makes millions of unsuccessful polls
// per second. Consecutive ones of a thread are folded into one event that counts them.
#pragma once

#include "call.h"

namespace profshim::mpi {

/// Returns true if unsuccessful polls are folded now, rather than each being an event.
inline bool folds_polls() {
  constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kMpi;
  return (recorder::mode() & (kRecording | recorder::kEachPoll)) == kRecording;
}

/// Called before and after the real function on the thread of the call. Neither allocates nor locks. count_poll()
/// counts an unsuccessful poll; the caller records any other as an event of its own.
Ticks begin_poll(Call& call);
void count_poll(const Call& call, Ticks began);

}  // namespace profshim::mpi
