// Lock-free map from handles to numbers. A full map accepts no new entries.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace profshim::mpi {

class HandleCache {
 public:
  constexpr HandleCache() = default;

  std::optional<std::uint64_t> find(std::uint64_t handle) const {
    for (std::uint32_t i = 0, at = home(handle); i < kMaxProbes; ++i) {
      const Slot& slot = slots_[(at + i) % kSlots];
      const std::uint64_t key = slot.key.load(std::memory_order_acquire);  // pairs with insert()
      if (key == handle) return slot.value.load(std::memory_order_relaxed);
      if (key == kFree) return std::nullopt;
    }
    return std::nullopt;
  }

  void insert(std::uint64_t handle, std::uint64_t value) {
    for (std::uint32_t i = 0, at = home(handle); i < kMaxProbes; ++i) {
      Slot& slot = slots_[(at + i) % kSlots];
      std::uint64_t key = slot.key.load(std::memory_order_relaxed);
      if (key != kFree && key != kRemoved) continue;
      if (!slot.key.compare_exchange_strong(key, kClaimed, std::memory_order_relaxed)) continue;
      slot.value.store(value, std::memory_order_relaxed);
      slot.key.store(handle, std::memory_order_release);
      return;
    }
  }

  /// Removes all copies: two threads may have inserted the handle at once.
  void remove(std::uint64_t handle) {
    for (std::uint32_t i = 0, at = home(handle); i < kMaxProbes; ++i) {
      Slot& slot = slots_[(at + i) % kSlots];
      std::uint64_t key = slot.key.load(std::memory_order_relaxed);
      if (key == kFree) return;
      if (key == handle) slot.key.compare_exchange_strong(key, kRemoved, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::uint32_t kSlots = 8192, kMaxProbes = 64;
  // No handle of any MPI has these values.
  static constexpr std::uint64_t kFree = 0, kRemoved = 1, kClaimed = 2;
  struct Slot {
    std::atomic<std::uint64_t> key{kFree}, value{0};
  };
  static std::uint32_t home(std::uint64_t handle) {
    return static_cast<std::uint32_t>((handle * 0x9e3779b97f4a7c15ull) >> 51) % kSlots;
  }
  Slot slots_[kSlots];
};

}  // namespace profshim::mpi
