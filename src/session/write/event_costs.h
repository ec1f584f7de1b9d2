// Measures how much time of its thread the recording of a call takes, for each layer, on this machine. overhead_percent
// is computed from it. The base cost is measured at the start. A layer registers its own measurement when it is
// initialized, which may be after the first window has opened.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "profshim/output/publish.h"

namespace profshim::session {

class EventCostMeter {
 public:
  /// Measures an event without its hook, the cost of layers without a measurement of their own. At the start.
  void measure_base();
  /// Registers `function`, which returns the nanoseconds of a call; < 0: cannot be measured. Any thread.
  void measure_with(Layer layer, double (*function)());
  /// Returns true if there is a layer that measure() has not tried. Any thread, no lock.
  bool has_more() const { return wanted_.load(std::memory_order_acquire) != 0; }
  /// Measures every layer that has no cost yet. A layer that cannot be measured now (between the begin of a window and
  /// its first observer) is tried a few more times. The writer calls this repeatedly while a window records.
  void measure();
  /// Returns the costs; < 0 for a layer that is not measured yet, nothing before the first measure(). Writer thread.
  std::optional<output::EventCosts> known() const;

 private:
  static constexpr std::size_t kLayers = static_cast<std::size_t>(Layer::kCount);
  static constexpr std::uint32_t kBase = 1u << kLayers;  // beside a bit for each layer
  static constexpr int kAttempts = 4;
  output::EventCosts costs_{};
  std::array<std::atomic<double (*)()>, kLayers> measures_{};
  std::atomic<std::uint32_t> wanted_{kBase};
  std::uint32_t failed_ = 0;  // layers to try again; writer thread only
  std::array<int, kLayers> attempts_{};
};

}  // namespace profshim::session
