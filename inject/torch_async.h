// Ranges of PyTorch that end on another thread than they began on: an RPC, the work of gloo or NCCL. What began inside
// of a range or operator that has ended, and has not ended itself, is such a one.
#pragma once

#include "profshim/recorder.h"

namespace profshim::torch {

/// The thread that began `range` has gone on without its end: it keeps its place in the spool, and waits there for the
/// end, which may have come already. The caller forgets its own copy.
void hand_over(spool::Thread& thread, const Event& range);

/// A range has ended on a thread that does not know it. True when its begin was known: it is committed on `thread`.
bool ended_elsewhere(spool::Thread& thread, const void* record_function, Ticks now);

/// A new range lies at that address: what was known of an earlier one is no more.
void forget(const void* record_function);

}  // namespace profshim::torch
