// Ranges of PyTorch that end on another thread than they began on: the work of gloo or NCCL, a request to another
// worker. Each is known by an address: its at::RecordFunction's, or the future's that it completes.
#pragma once

#include "profshim/recorder.h"

namespace profshim::torch {

/// The thread that began `range` (kStartEnd) has gone on without its end: it gets a place in the spool, and waits there
/// for the end, which may have come already.
void hand_over(spool::Thread& thread, const Event& range, const void* key);

/// A range has ended on a thread that does not know it. True when its begin was known: it is committed on `thread`,
/// with `flags` besides its own.
bool ended_elsewhere(spool::Thread& thread, const void* key, Ticks now, std::uint8_t flags = 0);

/// A new range lies at that address: what was known of an earlier one is no more.
void forget(const void* key);

}  // namespace profshim::torch
