// What we know of the objects that a library names by a handle: read at every call, changed when one is made or freed.
// No lock, no allocation; of a fixed size.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace profshim::inject {

/// `Entry` has an atomic `handle`, 0 in an entry of its own making. Any thread.
template <class Entry, std::size_t kSlots>
class HandleTable {
 public:
  /// Null when it is not there.
  Entry* find(std::uint64_t handle) {
    for (std::size_t i = 0, at = home(handle); i < kSlots; ++i) {
      Entry& entry = entries_[(at + i) % kSlots];
      const std::uint64_t key = entry.handle.load(std::memory_order_acquire);  // pairs with publish()
      if (key == handle) return &entry;
      if (key == kFree) return nullptr;
    }
    return nullptr;
  }
  /// An entry that nobody finds until publish(). Null when the table is full.
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
  /// Back under its old handle, unless the entry serves another one already.
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
