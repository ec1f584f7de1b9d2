#include "event_cost_meter.h"

#include <utility>

#include "profshim/recorder_control.h"

namespace profshim::session {

void EventCostMeter::measure_base() {
  costs_.memory = recorder::measure_event_cost_ns();
  for (double& cost : costs_.of_layer) cost = costs_.memory;
}

void EventCostMeter::measure_with(Layer layer, double (*function)()) {
  const auto i = static_cast<std::size_t>(layer);
  measures_[i].store(function, std::memory_order_relaxed);
  wanted_.fetch_or(1u << i, std::memory_order_release);
}

void EventCostMeter::measure() {
  const std::uint32_t wanted = wanted_.exchange(0, std::memory_order_acquire) | std::exchange(failed_, 0);
  for (std::size_t i = 0; i < kLayers; ++i) {
    if ((wanted & 1u << i) == 0) continue;
    costs_.of_layer[i] = measures_[i].load(std::memory_order_relaxed)();
    if (costs_.of_layer[i] < 0 && ++attempts_[i] < kAttempts) failed_ |= 1u << i;
  }
}

std::optional<EventCosts> EventCostMeter::known() const {
  const std::uint32_t wanted = wanted_.load(std::memory_order_acquire);
  if ((wanted & kBase) != 0) return std::nullopt;
  EventCosts known = costs_;
  for (std::size_t i = 0; i < kLayers; ++i) {
    if ((wanted & 1u << i) != 0) known.of_layer[i] = -1;
  }
  return known;
}

}  // namespace profshim::session
