#include "pending_ranges.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

namespace profshim::torch {
namespace {

struct PendingRange {
  const void* key = nullptr;  // null = free
  Event* range = nullptr;
};
/// End of a range that is not pending yet, or was not recorded. make_pending() distinguishes these by the time.
struct EarlyEnd {
  const void* key = nullptr;
  Ticks at = 0;
  std::uint8_t flags = 0;
};

// In a full set, a new entry replaces the oldest.
constexpr std::size_t kSets = 1024, kWays = 4;
constinit PendingRange ranges[kSets][kWays];
constinit EarlyEnd ends[kSets][kWays];
constinit std::mutex mutex;
constinit std::atomic<std::uint32_t> pending{0};

std::size_t set_of(const void* key) { return (reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15ull) >> 54; }

PendingRange* find_range(const void* key, std::size_t in) {
  auto& set = ranges[in];
  auto* const found = std::find_if(set, set + kWays, [key](const PendingRange& entry) { return entry.key == key; });
  return found != set + kWays ? found : nullptr;
}

PendingRange* find_range(const void* key) { return find_range(key, set_of(key)); }

EarlyEnd* find_end(const void* key) {
  auto& set = ends[set_of(key)];
  auto* const found = std::find_if(set, set + kWays, [key](const EarlyEnd& entry) { return entry.key == key; });
  return found != set + kWays ? found : nullptr;
}

void finish(spool::Thread& thread, PendingRange& entry, Ticks end, std::uint8_t flags) {
  Event event = *entry.range;
  event.end = end;
  event.flags |= flags;
  recorder::commit(thread, event);
  recorder::release_pending(entry.range);
  entry = {};
  pending.fetch_sub(1, std::memory_order_relaxed);
}

PendingRange& make_room(spool::Thread& thread, const void* key) {
  PendingRange* entry = find_range(key);
  if (entry == nullptr) entry = find_range(nullptr, set_of(key));
  if (entry == nullptr) {
    auto& set = ranges[set_of(key)];
    entry = std::min_element(
        set, set + kWays, [](const PendingRange& a, const PendingRange& b) { return a.range->begin < b.range->begin; });
  }
  if (entry->key != nullptr) finish(thread, *entry, ticks(), kUnfinished);
  return *entry;
}

}  // namespace

void make_pending(spool::Thread& thread, const Event& range, const void* key) {
  const std::lock_guard lock(mutex);
  if (EarlyEnd* const early = find_end(key); early != nullptr) {
    const EarlyEnd end = *early;
    *early = {};
    if (end.at >= range.begin) {
      Event event = range;
      event.end = end.at;
      event.flags |= end.flags;
      recorder::commit(thread, event);
      return;
    }
  }
  Event* const event = recorder::take_pending();
  if (event == nullptr) return;
  const Ticks began = range.begin;
  *event = range;
  event->begin = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // begin != 0 tells readers that other fields are valid
  event->begin = began;
  make_room(thread, key) = {key, event};
  pending.fetch_add(1, std::memory_order_relaxed);
}

bool end_pending(spool::Thread& thread, const void* key, Ticks now, std::uint8_t flags) {
  const std::lock_guard lock(mutex);
  if (PendingRange* const known = find_range(key)) {
    finish(thread, *known, now, flags);
    return true;
  }
  EarlyEnd* end = find_end(key);
  if (end == nullptr) {
    auto& set = ends[set_of(key)];
    end = std::min_element(set, set + kWays, [](const EarlyEnd& a, const EarlyEnd& b) { return a.at < b.at; });
  }
  *end = {key, now, flags};
  return false;
}

bool has_pending() { return pending.load(std::memory_order_relaxed) != 0; }

void leave_parents_pending_ranges() {
  new (&mutex) std::mutex;  // a thread of the parent may have held it
  if (pending.exchange(0) == 0) return;
  for (auto& set : ranges) std::fill(set, set + kWays, PendingRange{});
}

void forget_pending(spool::Thread& thread, const void* key) {
  if (!has_pending()) return;
  const std::lock_guard lock(mutex);
  if (PendingRange* const old = find_range(key)) finish(thread, *old, ticks(), kUnfinished);
}

}  // namespace profshim::torch
