// A thread's consecutive unsuccessful polls become one event: loops of MPI_Test, MPI_Testany or MPI_Iprobe make
// millions per second.
#pragma once

#include "call.h"

namespace profshim::mpi {

inline bool folds_polls() {
  constexpr std::uint32_t kRecording = recorder::kArmed | recorder::kMpi;
  return (recorder::mode() & (kRecording | recorder::kEachPoll)) == kRecording;
}

Ticks begin_poll(Call& call);
void count_poll(const Call& call, Ticks began);

}  // namespace profshim::mpi
