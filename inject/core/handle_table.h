#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profshim::inject {

/// Lock-free hash table of fixed size. Linear probing without tombstones: an entry lies less than `reach` slots after
/// its home, the slot that its hash selects.
template <class Entry, std::size_t kSlots>
class HandleTable {
 public:
  Entry* find(std::uint64_t handle) {
    if (handle <= kClaimed) return nullptr;
    const std::size_t at = home_of(handle);
    std::size_t i = 0;
    std::size_t reach = 1;
    do {
      Entry& entry = entries_[(at + i) % kSlots];
      if (entry.handle.load(std::memory_order_acquire) == handle) return &entry;  // pairs with publish()
      // Relaxed: if publish() happened before this call, so did the increase of `reach`.
      if (i == 0) reach = reach_of(homes_[at].load(std::memory_order_relaxed));
    } while (++i < reach);
    return nullptr;
  }
  /// Reserves a slot, which find() ignores until publish(). Null if the table is full.
  Entry* claim(std::uint64_t handle) {
    const std::size_t at = home_of(handle);
    for (std::size_t i = 0; i < kSlots; ++i) {
      Entry& entry = entries_[(at + i) % kSlots];
      std::uint64_t key = entry.handle.load(std::memory_order_relaxed);
      if (key != kFree || !entry.handle.compare_exchange_strong(key, kClaimed, std::memory_order_acquire)) continue;
      enter(at, i);
      return &entry;
    }
    return nullptr;
  }
  static void publish(Entry& entry, std::uint64_t handle) { entry.handle.store(handle, std::memory_order_release); }
  /// The entry's contents stay until its slot is claimed again.
  Entry* remove(std::uint64_t handle) {
    Entry* const entry = find(handle);
    std::uint64_t key = handle;
    // The release pairs with claim().
    if (entry == nullptr ||
        !entry->handle.compare_exchange_strong(key, kFree, std::memory_order_release, std::memory_order_relaxed)) {
      return nullptr;
    }
    leave(home_of(handle));
    return entry;
  }
  /// Undoes remove(), unless the slot was claimed since.
  void restore(Entry& entry, std::uint64_t handle) {
    const std::size_t at = home_of(handle);
    enter(at, (static_cast<std::size_t>(&entry - entries_) + kSlots - at) % kSlots);
    std::uint64_t removed = kFree;
    if (!entry.handle.compare_exchange_strong(removed, handle, std::memory_order_release, std::memory_order_relaxed)) {
      leave(at);
    }
  }

 private:
  static constexpr std::uint64_t kFree = 0, kClaimed = 2;  // no handle has these values
  static_assert(kSlots <= 1u << 14, "home_of() has 14 bits");
  static std::size_t home_of(std::uint64_t handle) { return ((handle * 0x9e3779b97f4a7c15ull) >> 50) % kSlots; }

  // Layout of homes_[i]: reach << 32 | number of entries. One word, so that both become 0 together.
  static constexpr std::uint64_t kOneEntry = 1, kReach = std::uint64_t{1} << 32;
  static std::size_t reach_of(std::uint64_t home) { return static_cast<std::size_t>(home / kReach); }
  /// Call before find() may look for the entry.
  void enter(std::size_t at, std::size_t distance) {
    std::uint64_t home = homes_[at].load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
      const std::uint64_t entries = home % kReach + kOneEntry;
      next = entries + kReach * (reach_of(home) > distance ? reach_of(home) : distance + 1);
    } while (!homes_[at].compare_exchange_weak(home, next, std::memory_order_relaxed));
  }
  void leave(std::size_t at) {
    std::uint64_t home = homes_[at].load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
      next = home % kReach == kOneEntry ? 0 : home - kOneEntry;
    } while (!homes_[at].compare_exchange_weak(home, next, std::memory_order_relaxed));
  }

  Entry entries_[kSlots];
  std::atomic<std::uint64_t> homes_[kSlots]{};
};

}  // namespace profshim::inject
