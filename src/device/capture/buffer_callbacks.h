// Process-wide buffer callbacks get no user pointer from CUPTI: the pool is global.
#pragma once

#include "device/cupti/activity_scope.h"
#include "device/cupti/buffer_pool.h"
#include "device/cupti/thread_ids.h"

namespace profshim::device {

/// CUPTI requests buffers on job threads, and returns them on its own or the flushing thread. No callback takes a lock.
const BufferCallbacks& buffer_callbacks();
/// `may_refuse`: CUPTI accepts a null buffer.
void set_buffer_pool(BufferPool& pool, bool may_refuse);
/// Has no effect if another pool is in use.
void unset_buffer_pool(BufferPool& pool);
const SeenThreads& threads_with_buffers();

/// `function` is called when CUPTI returns our buffer; null = none. Thread-safe.
void call_when_completed(void (*function)());
/// `completed` receives buffers of another client, which disabled its kinds without a flush. Null = only count such
/// buffers. Thread-safe.
void forward_foreign_buffers(BufferCompleted completed);
bool forwards_foreign_buffers();

}  // namespace profshim::device
