// A fixed-size hash table keyed by a library's handles (communicators): read at every call, changed when an object is
// created or freed. Lock-free, never allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profshim::inject {

/// `Entry` has an atomic `handle`, which is 0 in a default-constructed entry. Any thread.
template <class Entry, std::size_t kSlots>
class HandleTable {
 public:
  /// Returns null if the handle is not in the table.
  Entry* find(std::uint64_t handle) {
    for (std::size_t i = 0, at = home(handle); i < kSlots; ++i) {
      Entry& entry = entries_[(at + i) % kSlots];
      const std::uint64_t key = entry.handle.load(std::memory_order_acquire);  // pairs with publish()
      if (key == handle) return &entry;
      if (key == kFree) return nullptr;
    }
    return nullptr;
  }
  /// Reserves an entry, which find() does not see before publish(). Returns null if the table is full.
  Entry* claim(std::uint64_t handle) {
    for (std::size_t i = 0, at = home(handle); i < kSlots; ++i) {
      Entry& entry = entries_[(at + i) % kSlots];
      std::uint64_t key = entry.handle.load(std::memory_order_relaxed);
      if (key != kFree && key != kRemoved) continue;
      if (entry.handle.compare_exchange_strong(key, kClaimed, std::memory_order_acquire)) return &entry;
    }
    return nullptr;
  }
  static void publish(Entry& entry, std::uint64_t handle) { entry.handle.store(handle, std::memory_order_release); }
  static void remove(Entry& entry) { publish(entry, kRemoved); }
  /// Undoes remove(), unless the entry has been claimed for another handle since.
  static void restore(Entry& entry, std::uint64_t handle) {
    std::uint64_t removed = kRemoved;
    entry.handle.compare_exchange_strong(removed, handle, std::memory_order_release, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kFree = 0, kRemoved = 1, kClaimed = 2;  // no handle has these values
  static std::size_t home(std::uint64_t handle) { return ((handle * 0x9e3779b97f4a7c15ull) >> 50) % kSlots; }
  Entry entries_[kSlots];
};

}  // namespace profshim::inject
