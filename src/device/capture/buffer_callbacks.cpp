#include "buffer_callbacks.h"

#include <atomic>

namespace profshim::device {
namespace {

constinit std::atomic<BufferPool*> pool_in_use{nullptr};
constinit SeenThreads seen_threads;
constinit std::atomic<bool> requests_may_be_refused{false};
constinit std::atomic<void (*)()> on_completed{nullptr};
constinit std::atomic<BufferCompleted> foreign_completed{nullptr};

void buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  BufferPool* const pool = pool_in_use.load(std::memory_order_acquire);
  *max_records = 0;  // 0 = no limit
  // CUPTI 13 requests a buffer on each thread that makes CUDA calls.
  seen_threads.add_this_thread();
  const BufferPool::Room room = pool != nullptr ? pool->take(requests_may_be_refused.load(std::memory_order_relaxed))
                                                : BufferPool::Room{nullptr, 0};
  *buffer = room.data;
  *size = room.bytes;
}

void buffer_completed(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                      std::size_t valid_size) {
  BufferPool* const pool = pool_in_use.load(std::memory_order_acquire);
  if (pool == nullptr) return;
  const BufferCompleted other = foreign_completed.load(std::memory_order_acquire);
  if (!pool->complete(buffer, valid_size, other == nullptr)) {
    if (other != nullptr) other(context, stream, buffer, size, valid_size);
    return;
  }
  if (void (*const wake)() = on_completed.load(std::memory_order_relaxed)) wake();
}

constexpr BufferCallbacks kCallbacks = {buffer_requested, buffer_completed,
                                        [](std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, void*) {
                                          buffer_requested(buffer, size, max_records);
                                        },
                                        [](std::uint8_t* buffer, std::size_t size, std::size_t valid_size, void*) {
                                          buffer_completed(nullptr, 0, buffer, size, valid_size);
                                        }};

}  // namespace

const BufferCallbacks& buffer_callbacks() { return kCallbacks; }

void set_buffer_pool(BufferPool& pool, bool may_refuse) {
  requests_may_be_refused.store(may_refuse);
  pool_in_use.store(&pool, std::memory_order_release);
}

void unset_buffer_pool(BufferPool& pool) {
  BufferPool* expected = &pool;
  pool_in_use.compare_exchange_strong(expected, nullptr);
}

const SeenThreads& threads_with_buffers() { return seen_threads; }

void call_when_completed(void (*function)()) { on_completed.store(function); }

void forward_foreign_buffers(BufferCompleted completed) { foreign_completed.store(completed); }

bool forwards_foreign_buffers() { return foreign_completed.load(std::memory_order_acquire) != nullptr; }

}  // namespace profshim::device
