// Loops of MPI_Test, MPI_Testany or MPI_Iprobe make millions of unsuccessful polls per second: consecutive ones of a
// thread become one event.
#pragma once

#include "call.h"

namespace profshim::mpi {

inline bool folds_polls() {
  constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kMpi;
  return (recorder::mode() & (kRecording | recorder::kEachPoll)) == kRecording;
}

/// Called around the real function, on its thread. Neither allocates nor locks. count_poll(): unsuccessful polls only.
Ticks begin_poll(Call& call);
void count_poll(const Call& call, Ticks began);

}  // namespace profshim::mpi
