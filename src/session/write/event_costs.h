// Recording a call takes time of its thread. This measures how much, for each layer, on this machine: overhead_percent
// is made of it. The base is measured at the start. A layer says how it is measured when it comes up, which may be
// after the first window has opened.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "profshim/output/publish.h"

namespace profshim::session {

class EventCostMeter {
 public:
  /// At the start: an event without its hook. Layers that do not say more cost that.
  void measure_base();
  /// Any thread: `function` gives nanoseconds a call, < 0 when it cannot be measured.
  void measure_with(Layer layer, double (*function)());
  /// Any thread, no lock: there is a layer that measure() has not tried.
  bool has_more() const { return wanted_.load(std::memory_order_acquire) != 0; }
  /// Measures every layer that was not measured yet. The writer calls it again and again while a window records: where
  /// a layer cannot be measured, as between the begin of a window and its first observer, it is tried a few more times.
  void measure();
  /// A cost is < 0 while it is not measured; there is none before the first measure(). The writer calls it.
  std::optional<output::EventCosts> known() const;

 private:
  static constexpr std::size_t kLayers = static_cast<std::size_t>(Layer::kCount);
  static constexpr std::uint32_t kBase = 1u << kLayers;  // beside a bit for each layer
  static constexpr int kAttempts = 4;
  output::EventCosts costs_{};
  std::array<std::atomic<double (*)()>, kLayers> measures_{};
  std::atomic<std::uint32_t> wanted_{kBase};
  std::uint32_t failed_ = 0;  // to try again; the writer's
  std::array<int, kLayers> attempts_{};
};

}  // namespace profshim::session
