#include "window_limits.h"

#include <algorithm>

#include "profshim/device.h"
#include "session/steps/find/step_finder.h"
#include "session/steps/window_control.h"

namespace profshim::session {

void WindowLimits::check_window() {
  if (device::take_overflow() && closes()) close_windows(ticks(), s_.limit_device);
  const spool::Window* const window = s_.current.load();
  if (window == nullptr) {
    window_ = nullptr;
    return;
  }
  if (window != window_) {
    window_ = window;
    opened_ns_ = monotonic_ns();
    s_.trace_size.begin(recorder::events_committed());
  }
  const double seconds = static_cast<double>(monotonic_ns() - opened_ns_) / 1e9;
  if (seconds > s_.spec.limits.window_seconds) close_by_limit(s_, ticks(), s_.limit_time);
  if (s_.trace_size.reached(recorder::events_committed())) close_by_limit(s_, ticks(), s_.limit_size);
  if (s_.trace_size.wants_measure() || s_.costs.has_more()) s_.wake.notify_all();
}

void WindowLimits::close_windows(Ticks end, StringId limit) {
  close_by_limit(s_, end, limit);
  for (const auto& phase : s_.phase_windows) {
    if (phase != nullptr && phase->is_open()) phase->close_by_limit(end, limit);
  }
}

bool WindowLimits::has_open_phase() const {
  return std::any_of(s_.phase_windows.begin(), s_.phase_windows.end(),
                     [](const auto& phase) { return phase != nullptr && phase->is_open(); });
}

void WindowLimits::check_pool(const recorder::PoolState& pool, bool may_free) {
  const Ticks dropped_at = recorder::take_first_drop();
  if (s_.kept_from.load() != 0 && s_.current.load() == nullptr) {
    if (dropped_at != 0 || pool.pressed_by || pool.refused_by) s_.finder->lose_events();
    if (!has_open_phase()) return;
  }
  if (s_.spec.limits.on_limit == OnLimit::kDropOld) {
    // Until a closed window is written, its events stay, and the newest events are lost.
    if (!may_free || window_waits()) return;
    const std::uint32_t chunks = recorder::chunks_in_pool();
    if (pool.pressed_by) recorder::drop_oldest(pool.held / 2);
    if (pool.unused == 0 && pool.free < chunks / 8) recorder::drop_oldest(chunks / 8);
    return;
  }
  if (!closes()) return;
  if (pool.pressed_by) close_windows(ticks(), s_.limit_reason(*pool.pressed_by));
  if (dropped_at == 0) return;
  if (pool.refused_by) close_windows(dropped_at, s_.limit_reason(*pool.refused_by));
  if (pool.unused == 0) close_windows(dropped_at, s_.limit_reason(s_.pool_bound));
}

}  // namespace profshim::session
