#include "async.h"

#include <atomic>
#include <mutex>

namespace profshim::torch {
namespace {

// A place for each address, by its bits: of two that meet the newer one stays, and the other is shown as unfinished.
struct Waiting {
  const void* key = nullptr;
  Event* range = nullptr;  // null: the end came first
  Ticks ended = 0;
  std::uint8_t flags = 0;
};
constexpr std::size_t kPlaces = 4096;
constinit Waiting places[kPlaces];
constinit std::mutex changing;
constinit std::atomic<std::uint32_t> waiting{0};  // places in use

Waiting& place_of(const void* key) {
  return places[(reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15ull) >> 52];
}

void clear(Waiting& place) {
  if (place.key != nullptr) waiting.fetch_sub(1, std::memory_order_relaxed);
  place = {};
}

void take(Waiting& place, const void* key) {
  clear(place);
  place.key = key;
  waiting.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void hand_over(spool::Thread& thread, const Event& range, const void* key) {
  const std::lock_guard one_at_a_time(changing);
  Waiting& place = place_of(key);
  if (place.key == key && place.range == nullptr && place.ended >= range.begin) {
    Event event = range;
    event.end = place.ended;
    event.flags |= place.flags;
    clear(place);
    recorder::commit(thread, event);
    return;
  }
  Event* const slot = recorder::take_pending();
  if (slot == nullptr) return;
  const Ticks began = range.begin;
  *slot = range;
  slot->begin = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // begin says that the rest is valid
  slot->begin = began;
  take(place, key);
  place.range = slot;
}

bool ended_elsewhere(spool::Thread& thread, const void* key, Ticks now, std::uint8_t flags) {
  const std::lock_guard one_at_a_time(changing);
  Waiting& place = place_of(key);
  if (place.key == key && place.range != nullptr) {
    Event event = *place.range;
    event.end = now;
    event.flags |= flags;
    recorder::commit(thread, event);
    recorder::release_pending(place.range);
    clear(place);
    return true;
  }
  take(place, key);
  place.ended = now;
  place.flags = flags;
  return false;
}

void forget(const void* key) {
  if (waiting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard one_at_a_time(changing);
  Waiting& place = place_of(key);
  if (place.key == key) clear(place);
}

}  // namespace profshim::torch
