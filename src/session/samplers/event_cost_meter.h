// Measures how long recording a call takes in each layer, for overhead_percent.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "profshim/event.h"
#include "profshim/window/costs.h"

namespace profshim::session {

/// Used by the writer thread, unless noted.
class EventCostMeter {
 public:
  /// Call first. Measures the cost of layers without measure_with().
  void measure_base();
  /// `function` returns ns per call; < 0 = cannot be measured. Thread-safe.
  void measure_with(Layer layer, double (*function)());
  /// Thread-safe, lock-free.
  bool has_more() const { return wanted_.load(std::memory_order_acquire) != 0; }
  /// Retries a layer that fails: PyTorch may lack our observer when a window begins.
  void measure();
  /// Returns costs < 0 for layers whose function has not run or failed; nothing before measure().
  std::optional<EventCosts> known() const;

 private:
  static constexpr std::size_t kLayers = static_cast<std::size_t>(Layer::kCount);
  static constexpr std::uint32_t kBase = 1u << kLayers;
  static constexpr int kAttempts = 4;
  EventCosts costs_{};
  std::array<std::atomic<double (*)()>, kLayers> measures_{};
  std::atomic<std::uint32_t> wanted_{kBase};
  std::uint32_t failed_ = 0;
  std::array<int, kLayers> attempts_{};
};

}  // namespace profshim::session
