#include "torch_async.h"

#include <unistd.h>

#include <atomic>
#include <mutex>

namespace profshim::torch {
namespace {

// A place for each address, by its bits: of two that meet the newer one stays, and the other is shown as unfinished.
struct Waiting {
  const void* record_function = nullptr;
  Event* range = nullptr;  // null: the end came first
  Ticks ended = 0;
  std::int32_t ended_on = 0;
};
constexpr std::size_t kPlaces = 4096;
constinit Waiting places[kPlaces];
constinit std::mutex changing;
constinit std::atomic<std::uint32_t> waiting{0};  // places in use

Waiting& place_of(const void* record_function) {
  return places[(reinterpret_cast<std::uintptr_t>(record_function) * 0x9e3779b97f4a7c15ull) >> 52];
}

void clear(Waiting& place) {
  if (place.record_function != nullptr) waiting.fetch_sub(1, std::memory_order_relaxed);
  place = {};
}

void take(Waiting& place, const void* record_function) {
  clear(place);
  place.record_function = record_function;
  waiting.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void hand_over(spool::Thread& thread, const Event& range) {
  Event event = range;
  const auto* const key = reinterpret_cast<const void*>(event.torch.record_function);
  event.flags |= kStartEnd;
  event.torch.record_function = static_cast<std::uint64_t>(thread.tid.load(std::memory_order_relaxed));
  const std::lock_guard one_at_a_time(changing);
  Waiting& place = place_of(key);
  if (place.record_function == key && place.range == nullptr) {
    event.end = place.ended;
    clear(place);
    recorder::commit(thread, event);
    return;
  }
  Event* const slot = recorder::take_pending();
  if (slot == nullptr) return;
  const Ticks began = event.begin;
  event.begin = 0;
  *slot = event;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // begin says that the rest is valid
  slot->begin = began;
  take(place, key);
  place.range = slot;
}

bool ended_elsewhere(spool::Thread& thread, const void* record_function, Ticks now) {
  const std::lock_guard one_at_a_time(changing);
  Waiting& place = place_of(record_function);
  if (place.record_function == record_function && place.range != nullptr) {
    Event event = *place.range;
    event.end = now;
    recorder::commit(thread, event);
    recorder::release_pending(place.range);
    clear(place);
    return true;
  }
  take(place, record_function);
  place.ended = now;
  return false;
}

void forget(const void* record_function) {
  if (waiting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard one_at_a_time(changing);
  Waiting& place = place_of(record_function);
  if (place.record_function == record_function) clear(place);
}

}  // namespace profshim::torch
