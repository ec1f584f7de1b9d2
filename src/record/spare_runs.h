// A spare run is an unused part of a chunk. One atomic word describes it, so that no thread reads a freed chunk.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace profshim::recorder {

/// `slot`: of the run's header. `room`: in events; 0 = no run.
struct RunPlace {
  std::uint32_t chunk = 0;
  std::uint16_t slot = 0;
  std::uint16_t room = 0;
};

/// Thread-safe; does not lock or allocate.
class SpareRuns {
 public:
  /// Allows one spare run per eight chunks, since each spare run keeps its chunk in use.
  void reset(std::uint32_t chunks) {
    for (std::atomic<std::uint64_t>& place : places_) place.store(0, std::memory_order_relaxed);
    used_.store(std::clamp(chunks / 8, 1u, kPlaces), std::memory_order_relaxed);
  }

  /// Takes the smallest spare run. Returns room == 0 if there is none, or if other threads were faster.
  RunPlace take() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::atomic<std::uint64_t>* best = nullptr;
      std::uint64_t found = 0;
      for (std::uint32_t i = 0; i < used(); ++i) {
        const std::uint64_t word = places_[i].load(std::memory_order_relaxed);
        if (word == 0 || (best != nullptr && room(word) >= room(found))) continue;
        best = &places_[i];
        found = word;
      }
      if (best == nullptr) break;
      if (best->compare_exchange_strong(found, 0, std::memory_order_acquire)) return unpacked(found);
    }
    return {};
  }

  /// Returns false if all places are taken: the run stays unused until its chunk is freed.
  bool put(RunPlace run) {
    for (std::uint32_t i = 0; i < used(); ++i) {
      std::uint64_t empty = 0;
      if (places_[i].load(std::memory_order_relaxed) != 0) continue;
      // Release publishes the run's header; pairs with take().
      if (places_[i].compare_exchange_strong(empty, packed(run), std::memory_order_release)) return true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kPlaces = 64;
  static constexpr int kAttempts = 4;
  static std::uint64_t packed(RunPlace run) {
    return std::uint64_t{run.chunk} << 32 | std::uint64_t{run.slot} << 16 | run.room;
  }
  static RunPlace unpacked(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint16_t>(word >> 16),
            static_cast<std::uint16_t>(word)};
  }
  static std::uint16_t room(std::uint64_t word) { return static_cast<std::uint16_t>(word); }
  std::uint32_t used() const { return used_.load(std::memory_order_relaxed); }

  std::atomic<std::uint64_t> places_[kPlaces] = {};
  std::atomic<std::uint32_t> used_{0};
};

}  // namespace profshim::recorder
