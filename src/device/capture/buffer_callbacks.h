// The two callbacks by which CUPTI takes empty buffers from us and returns filled ones. CUPTI passes them no user
// pointer, so the pool they serve is global: one in a process.
#pragma once

#include "device/cupti/activity_scope.h"
#include "device/cupti/buffer_pool.h"
#include "device/cupti/thread_ids.h"

namespace profshim::device {

/// The callbacks in both forms, to be registered. They run on threads of the job (requests) and on threads of CUPTI or
/// the flushing thread (completions), and take no lock.
const BufferCallbacks& buffer_callbacks();
/// Makes the callbacks serve `pool`. `may_refuse`: this CUPTI accepts a request that gets no buffer. Device thread.
void set_buffer_pool(BufferPool& pool, bool may_refuse);
/// Makes the callbacks serve no pool, if they serve this one. Device thread.
void unset_buffer_pool(BufferPool& pool);
/// Threads of the job that have requested a buffer.
const SeenThreads& threads_with_buffers();

/// Sets a function that is called whenever CUPTI returns a buffer of ours, on CUPTI's thread; null = none. Any thread.
void call_when_completed(void (*function)());
/// Sets the function that receives the buffers that CUPTI returns to us although another client supplied them: a client
/// that disabled its kinds and never flushed. Null = none; such buffers are then counted. Any thread.
void forward_foreign_buffers(BufferCompleted completed);
bool forwards_foreign_buffers();

}  // namespace profshim::device
