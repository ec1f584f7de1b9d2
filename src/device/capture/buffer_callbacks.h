// CUPTI takes empty buffers from us and returns filled ones by these callbacks. The pool is global: CUPTI passes no
// user pointer.
#pragma once

#include "device/cupti/activity_scope.h"
#include "device/cupti/buffer_pool.h"
#include "device/cupti/thread_ids.h"

namespace profshim::device {

/// In both forms. No locks. Requests come on job threads, completions on CUPTI's or the flushing thread.
const BufferCallbacks& buffer_callbacks();
/// `may_refuse`: this CUPTI accepts a request that gets no buffer. Device thread.
void set_buffer_pool(BufferPool& pool, bool may_refuse);
/// No effect if another pool is in use. Device thread.
void unset_buffer_pool(BufferPool& pool);
const SeenThreads& threads_with_buffers();

/// Called on CUPTI's thread when our buffer returns; null = none. Any thread.
void call_when_completed(void (*function)());
/// Receives buffers that CUPTI returns to us for a client that disabled its kinds without a flush. Null: they are
/// counted. Any thread.
void forward_foreign_buffers(BufferCompleted completed);
bool forwards_foreign_buffers();

}  // namespace profshim::device
