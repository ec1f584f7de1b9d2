// What recording a call takes of its thread on this machine, by layer: for overhead_percent. The base is measured at
// the start; a layer says how it is measured when it comes up, which may be after the first window has opened.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "profshim/publish.h"

namespace profshim::session {

class EventCostMeter {
 public:
  /// At the start: an event without its hook. Layers that do not say more cost that.
  void measure_base();
  /// Any thread: `function` gives nanoseconds a call, < 0 when it cannot be measured.
  void measure_with(Layer layer, double (*function)());
  /// Any thread, no lock: measure() has something to do.
  bool has_more() const { return wanted_.load(std::memory_order_acquire) != 0; }
  /// The writer's, while a window records: every layer that was not measured yet.
  void measure();
  /// The writer's. What is not measured yet is < 0; nothing, before the first measure().
  std::optional<output::EventCosts> known() const;

 private:
  static constexpr std::size_t kLayers = static_cast<std::size_t>(Layer::kCount);
  static constexpr std::uint32_t kBase = 1u << kLayers;  // beside a bit for each layer
  output::EventCosts costs_{};
  std::array<std::atomic<double (*)()>, kLayers> measures_{};
  std::atomic<std::uint32_t> wanted_{kBase};
};

}  // namespace profshim::session
