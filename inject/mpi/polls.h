// Polling: a program that waits in a loop of MPI_Test, MPI_Testany or MPI_Iprobe makes millions of calls a second that
// come to nothing. Those that follow each other on one thread are one event, which counts them.
#pragma once

#include "call.h"

namespace profshim::mpi {

/// Are polls to be counted now, instead of each being an event?
inline bool folds_polls() {
  constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kMpi;
  return (recorder::mode() & (kRecording | recorder::kEachPoll)) == kRecording;
}

/// Around the real function, on the thread of the call; no allocation, no lock. count_poll() is for one that came to
/// nothing; of any other the caller makes an event.
Ticks begin_poll(Call& call);
void count_poll(const Call& call, Ticks began);

}  // namespace profshim::mpi
