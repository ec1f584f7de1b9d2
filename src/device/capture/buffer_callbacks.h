// The callbacks by which CUPTI takes empty buffers and returns filled ones. The pool is global: CUPTI passes no user
// pointer.
#pragma once

#include "device/cupti/activity_scope.h"
#include "device/cupti/buffer_pool.h"
#include "device/cupti/thread_ids.h"

namespace profshim::device {

/// For both forms of the API (activity_scope.h). They take no locks. CUPTI requests buffers on job threads and returns
/// them on its own or the flushing thread.
const BufferCallbacks& buffer_callbacks();
/// `may_refuse`: this CUPTI accepts a null buffer.
void set_buffer_pool(BufferPool& pool, bool may_refuse);
/// Has no effect if another pool is in use.
void unset_buffer_pool(BufferPool& pool);
const SeenThreads& threads_with_buffers();

/// `function` is called when CUPTI returns our buffer; null = none. Thread-safe.
void call_when_completed(void (*function)());
/// `completed` receives buffers that CUPTI returns to us for a client that disabled its kinds without a flush. If null,
/// they are only counted. Thread-safe.
void forward_foreign_buffers(BufferCompleted completed);
bool forwards_foreign_buffers();

}  // namespace profshim::device
