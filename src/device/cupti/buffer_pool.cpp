#include "buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace profshim::device {
namespace {
constexpr std::size_t kAlignment = 64;

/// All threads share this buffer when memory is out: CUPTI before 12.9 crashes on null.
alignas(kAlignment) constinit std::uint8_t last_resort[64 << 10] = {};
}  // namespace

BufferPool::~BufferPool() {
  for (Slot& slot : slots_) {
    if (slot.place.load() != Place::kWrittenOff) std::free(slot.data.load());
  }
  for (Unread* one = unread_list_.load(); one != nullptr;) {
    if (one->place.load() != Place::kWrittenOff) std::free(one->data.load());
    delete std::exchange(one, one->next);
  }
}

// aligned_alloc(), since a client that takes over CUPTI may free() our buffers.
bool BufferPool::add() {
  const std::uint32_t index = made_.load(std::memory_order_relaxed);
  if (index >= kMostBuffers) return false;
  auto* const data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, bytes_));
  if (data == nullptr) return false;
  std::memset(data, 0, bytes_);
  slots_[index].data.store(data, std::memory_order_relaxed);
  slots_[index].place.store(Place::kFree, std::memory_order_relaxed);
  made_.store(index + 1, std::memory_order_release);
  return true;
}

bool BufferPool::make(std::size_t count, std::size_t bytes) {
  if (made_.load() != 0) return true;
  bytes_ = std::max(bytes / kAlignment, std::size_t{1}) * kAlignment;
  count = std::min(count, kMostBuffers - kReserve);
  const std::size_t first = std::min(count, kAtFirst);
  for (std::size_t i = 0; i < first + kReserve; ++i) {
    if (!add()) return i > 0;
    push(i < kReserve ? reserve_ : free_, static_cast<std::uint32_t>(i));
  }
  to_make_ = count - first;
  return true;
}

bool BufferPool::make_more() {
  if (to_make_ == 0) return false;
  if (!add()) {
    to_make_ = 0;
    return false;
  }
  --to_make_;
  push(free_, made_.load(std::memory_order_relaxed) - 1);
  return true;
}

std::uint32_t BufferPool::pop(List& list) {
  std::uint64_t head = list.load(std::memory_order_acquire);
  for (;;) {
    const auto index = static_cast<std::uint32_t>(head);
    if (index == kNone) return kNone;
    const std::uint64_t next = ((head >> 32) + 1) << 32 | slots_[index].next.load(std::memory_order_relaxed);
    if (list.compare_exchange_weak(head, next, std::memory_order_acq_rel, std::memory_order_acquire)) return index;
  }
}

void BufferPool::push(List& list, std::uint32_t index) {
  std::uint64_t head = list.load(std::memory_order_relaxed);
  for (;;) {
    slots_[index].next.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    const std::uint64_t next = ((head >> 32) + 1) << 32 | index;
    if (list.compare_exchange_weak(head, next, std::memory_order_release, std::memory_order_relaxed)) return;
  }
}

std::uint32_t BufferPool::index_of(const std::uint8_t* data) const {
  const std::uint32_t made = made_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < made; ++i) {
    if (slots_[i].data.load(std::memory_order_relaxed) == data) return i;
  }
  return kNone;
}

BufferPool::Room BufferPool::take(bool may_refuse) {
  std::uint32_t index = pop(free_);
  if (index == kNone) {
    if (may_refuse) {
      refused_.fetch_add(1, std::memory_order_relaxed);
      return {nullptr, 0};
    }
    reserved_.fetch_add(1, std::memory_order_relaxed);
    index = pop(reserve_);
    if (index == kNone) {
      // Reuse a full buffer: two threads must not share a buffer.
      index = pop(completed_);
      if (index == kNone) return take_unread();
      overwritten_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  slots_[index].taken.store(ticks(), std::memory_order_relaxed);
  slots_[index].place.store(Place::kOutstanding, std::memory_order_release);
  return {slots_[index].data.load(std::memory_order_relaxed), bytes_};
}

BufferPool::Room BufferPool::take_unread() {
  for (Unread* one = unread_list_.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    Place free = Place::kFree;
    if (one->place.compare_exchange_strong(free, Place::kOutstanding)) {
      one->taken.store(ticks(), std::memory_order_relaxed);
      return {one->data.load(std::memory_order_relaxed), kUnreadBytes};
    }
  }
  auto* const data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kUnreadBytes));
  auto* const one = data != nullptr ? new (std::nothrow) Unread : nullptr;
  if (one == nullptr) {
    std::free(data);
    return {last_resort, sizeof last_resort};
  }
  one->data.store(data, std::memory_order_relaxed);
  one->taken.store(ticks(), std::memory_order_relaxed);
  one->next = unread_list_.load(std::memory_order_relaxed);
  while (!unread_list_.compare_exchange_weak(one->next, one, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return {data, kUnreadBytes};
}

bool BufferPool::complete_unread(const std::uint8_t* data, std::size_t valid) {
  const auto count = [this, valid] {
    if (valid > 0) unread_.fetch_add(1, std::memory_order_relaxed);
  };
  if (data == last_resort) {
    count();
    return true;
  }
  for (Unread* one = unread_list_.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    if (one->data.load(std::memory_order_relaxed) != data) continue;
    Place outstanding = Place::kOutstanding;
    if (!one->place.compare_exchange_strong(outstanding, Place::kFree)) return false;
    count();
    return true;
  }
  return false;
}

bool BufferPool::complete(std::uint8_t* data, std::size_t valid, bool counts_foreign) {
  if (data == nullptr) return true;
  const std::uint32_t index = index_of(data);
  if (index == kNone && complete_unread(data, valid)) return true;
  // The device thread may write off the buffer at the same time.
  Place outstanding = Place::kOutstanding;
  if (index == kNone || !slots_[index].place.compare_exchange_strong(outstanding, Place::kCompleted)) {
    if (counts_foreign) foreign_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  slots_[index].valid = std::min(valid, bytes_);
  push(completed_, index);
  return true;
}

Ticks BufferPool::oldest_outstanding() const {
  Ticks oldest = kNoneOutstanding;
  const auto look = [&oldest](const auto& one) {
    const Place place = one.place.load(std::memory_order_acquire);
    if (place != Place::kOutstanding && place != Place::kCompleted) return;
    oldest = std::min(oldest, one.taken.load(std::memory_order_relaxed));
  };
  const std::uint32_t made = made_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < made; ++i) look(slots_[i]);
  for (const Unread* one = unread_list_.load(std::memory_order_acquire); one != nullptr; one = one->next) look(*one);
  return oldest;
}

std::vector<BufferPool::Filled> BufferPool::take_completed() {
  std::vector<Filled> filled;
  std::uint64_t head = completed_.load(std::memory_order_relaxed);
  while (!completed_.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | kNone, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
  }
  for (auto i = static_cast<std::uint32_t>(head); i != kNone; i = slots_[i].next.load(std::memory_order_relaxed)) {
    slots_[i].place.store(Place::kRead, std::memory_order_relaxed);
    filled.push_back({slots_[i].data.load(std::memory_order_relaxed), slots_[i].valid});
  }
  std::reverse(filled.begin(), filled.end());
  return filled;
}

void BufferPool::recycle(std::uint8_t* data) {
  const std::uint32_t index = index_of(data);
  if (index == kNone || slots_[index].place.load(std::memory_order_relaxed) != Place::kRead) return;
  slots_[index].place.store(Place::kFree, std::memory_order_relaxed);
  push(index < kReserve ? reserve_ : free_, index);
}

std::uint64_t BufferPool::write_off_outstanding(Ticks before) {
  std::uint64_t old = 0;
  const std::uint32_t made = made_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < made; ++i) {
    Place outstanding = Place::kOutstanding;
    if (!slots_[i].place.compare_exchange_strong(outstanding, Place::kWrittenOff)) continue;
    old += slots_[i].taken.load(std::memory_order_relaxed) < before;
    slots_[i].data.store(nullptr, std::memory_order_relaxed);
    if (auto* const data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, bytes_))) {
      std::memset(data, 0, bytes_);
      slots_[i].data.store(data, std::memory_order_relaxed);
      slots_[i].place.store(Place::kFree, std::memory_order_relaxed);
      push(i < kReserve ? reserve_ : free_, i);
    }
  }
  for (Unread* one = unread_list_.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    Place outstanding = Place::kOutstanding;
    if (!one->place.compare_exchange_strong(outstanding, Place::kWrittenOff)) continue;
    old += one->taken.load(std::memory_order_relaxed) < before;
    one->data.store(nullptr);
  }
  return old;
}

BufferPool::Counts BufferPool::counts() const {
  return {refused_.load(std::memory_order_relaxed), reserved_.load(std::memory_order_relaxed),
          overwritten_.load(std::memory_order_relaxed), unread_.load(std::memory_order_relaxed),
          foreign_.load(std::memory_order_relaxed)};
}

}  // namespace profshim::device
