#include "async.h"

#include <atomic>
#include <mutex>

namespace profshim::torch {
namespace {

// A hash table with one range per slot. If two ranges have the same slot, the newer one takes it, and the older one is
// shown as unfinished.
struct Waiting {
  const void* key = nullptr;
  Event* range = nullptr;  // null: the end came first
  Ticks ended = 0;
  std::uint8_t flags = 0;
};
constexpr std::size_t kSlots = 4096;
constinit Waiting slots[kSlots];
constinit std::mutex mutex;
constinit std::atomic<std::uint32_t> waiting{0};  // slots in use

Waiting& slot_of(const void* key) {
  return slots[(reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15ull) >> 52];
}

void clear(Waiting& slot) {
  if (slot.key != nullptr) waiting.fetch_sub(1, std::memory_order_relaxed);
  slot = {};
}

void take(Waiting& slot, const void* key) {
  clear(slot);
  slot.key = key;
  waiting.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void make_pending(spool::Thread& thread, const Event& range, const void* key) {
  const std::lock_guard lock(mutex);
  Waiting& slot = slot_of(key);
  if (slot.key == key && slot.range == nullptr && slot.ended >= range.begin) {
    Event event = range;
    event.end = slot.ended;
    event.flags |= slot.flags;
    clear(slot);
    recorder::commit(thread, event);
    return;
  }
  Event* const event = recorder::take_pending();
  if (event == nullptr) return;
  const Ticks began = range.begin;
  *event = range;
  event->begin = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // begin != 0 means that the rest is valid
  event->begin = began;
  take(slot, key);
  slot.range = event;
}

bool end_pending(spool::Thread& thread, const void* key, Ticks now, std::uint8_t flags) {
  const std::lock_guard lock(mutex);
  Waiting& slot = slot_of(key);
  if (slot.key == key && slot.range != nullptr) {
    Event event = *slot.range;
    event.end = now;
    event.flags |= flags;
    recorder::commit(thread, event);
    recorder::release_pending(slot.range);
    clear(slot);
    return true;
  }
  take(slot, key);
  slot.ended = now;
  slot.flags = flags;
  return false;
}

void forget_pending(const void* key) {
  if (waiting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex);
  Waiting& slot = slot_of(key);
  if (slot.key == key) clear(slot);
}

}  // namespace profshim::torch
