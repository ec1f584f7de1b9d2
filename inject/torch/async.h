// PyTorch ranges that end on another thread than the one they began on: operations of gloo or NCCL, and requests to
// another RPC worker. The key of a range is the address of its at::RecordFunction, or of the future that it completes.
#pragma once

#include "profshim/recorder.h"

namespace profshim::torch {

/// Moves `range` (with flag kStartEnd), which the calling thread has begun and will not end, to a pending slot of the
/// spool. If its end has come already, commits it instead.
void make_pending(spool::Thread& thread, const Event& range, const void* key);

/// Ends a range that `thread` has not begun. If its start is known, commits it on `thread` with `flags` added, and
/// returns true. Otherwise keeps the end for make_pending() and returns false.
bool end_pending(spool::Thread& thread, const void* key, Ticks now, std::uint8_t flags = 0);

/// Returns true if a range waits for its end, recorded or not. Any thread, without a lock.
bool has_pending();

/// A new range begins at the address of an earlier one, which has ended unseen: commits that one as unfinished.
void forget_pending(spool::Thread& thread, const void* key);

}  // namespace profshim::torch
