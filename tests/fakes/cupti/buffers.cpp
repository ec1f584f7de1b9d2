#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "fakes/cupti/client.h"

namespace fake::cupti {

BufferSlot& Client::new_slot() {
  const std::lock_guard lock(slots_lock_);
  return *slots_.emplace_back(std::make_unique<BufferSlot>());
}

BufferSlot& Client::thread_slot() {
  if (!per_thread_) return shared_slot_;
  thread_local std::map<const Client*, BufferSlot*> own;
  BufferSlot*& slot = own[this];
  if (slot == nullptr) slot = &new_slot();
  return *slot;
}

Reserved Client::write_record(BufferSlot& slot, std::uint32_t kind, const void* record, std::size_t record_size,
                              bool incomplete) {
  const std::size_t bytes = record_bytes(kind, kSizes);
  const std::lock_guard lock(slot.lock);
  if (slot.buffer->data && (slot.buffer->used + bytes > slot.buffer->size ||
                            (slot.buffer->maximum && slot.buffer->records == slot.buffer->maximum))) {
    {
      const std::lock_guard full_lock(full_lock_);
      full_.push_back(std::exchange(slot.buffer, std::make_shared<Buffer>()));
    }
    worker_wake_.notify_one();
  }
  Buffer& buffer = *slot.buffer;
  if (!buffer.data) {
    if (!request_) return {};
    counters_.requested++;
    request_(&buffer.data, &buffer.size, &buffer.maximum);
    if ((!buffer.data || buffer.size < bytes) && FAKE_CUPTI_VERSION >= 27) {
      slot.buffer = std::make_shared<Buffer>();
      counters_.dropped++;
      all_dropped_++;
      return {};
    }
    const std::lock_guard requested_lock(requested_lock_);
    if (!requested_.insert(buffer.data).second) counters_.shared++;
  }
  // Fields that releases after 13.0 add to a record keep this pattern.
  std::memset(buffer.data + buffer.used, 0xEE, bytes);
  std::memcpy(buffer.data + buffer.used, record, std::min(bytes, record_size));
  const Reserved place{slot.buffer, buffer.used};
  buffer.used += bytes;
  buffer.records++;
  if (incomplete) {
    const std::lock_guard guard(buffer.lock);
    buffer.incomplete++;
  }
  counters_.records[kind]++;
  return place;
}

void Client::hand_over(const Buffer& buffer) {
  if (complete_) {
    counters_.completed++;
    {
      const std::lock_guard requested_lock(requested_lock_);
      requested_.erase(buffer.data);
    }
    complete_(nullptr, 0, buffer.data, buffer.size, buffer.used);
  }
}

void Client::wait_for_worker() {
  while (handing_over_) sched_yield();
}

void Client::hand_over_full(bool forced) {
  for (;;) {
    SharedBuffer buffer;
    {
      const std::lock_guard lock(full_lock_);
      const auto complete = std::find_if(full_.begin(), full_.end(),
                                         [forced](const SharedBuffer& one) { return one->give_back(forced); });
      if (complete == full_.end()) return;
      buffer = *complete;
      full_.erase(complete);
      ++handing_over_;
    }
    hand_over(*buffer);
    --handing_over_;
  }
}

void Client::work() {
  pthread_setname_np(pthread_self(), "fake-cupti");
  for (;;) {
    {
      std::unique_lock lock(finished_lock_);
      worker_wake_.wait_for(lock, std::chrono::milliseconds(finished_.empty() ? 100 : 1));
    }
    take_finished(false);
    hand_over_full(false);
  }
}

}  // namespace fake::cupti
