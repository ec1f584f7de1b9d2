// PyTorch ranges that end on another thread (gloo, NCCL, RPC). A range's key is the address of its at::RecordFunction,
// or of the future that ends it (RPC).
#pragma once

#include "profshim/recorder.h"

namespace profshim::torch {

/// Copies `range` (flag kStartEnd) to a pending slot, or commits it if end_pending() came first.
void make_pending(spool::Thread& thread, const Event& range, const void* key);

/// Commits the range on `thread`. If the range is not pending, keeps the end for make_pending() and returns false.
bool end_pending(spool::Thread& thread, const void* key, Ticks now, std::uint8_t flags = 0);

/// Lock-free; any thread.
bool has_pending();

/// In a child of a fork.
void leave_parents_pending_ranges();

/// Commits an older range with this key, if any, as unfinished.
void forget_pending(spool::Thread& thread, const void* key);

}  // namespace profshim::torch
