#include "window_limits.h"

#include <algorithm>

#include "profshim/device.h"

namespace profshim::session {

void WindowLimits::check_window() {
  if (device::take_overflow() && closes()) close_windows(ticks(), r_.limits.device);
  const spool::Window* const window = r_.steps.windows().current();
  if (window == nullptr) {
    window_ = nullptr;
    return;
  }
  if (window != window_) {
    window_ = window;
    opened_ns_ = monotonic_ns();
    r_.trace_size.begin(recorder::events_committed());
  }
  const double seconds = static_cast<double>(monotonic_ns() - opened_ns_) / 1e9;
  if (seconds > r_.plan.spec.limits.window_seconds) r_.steps.windows().close_by_limit(ticks(), r_.limits.time);
  if (r_.trace_size.reached(recorder::events_committed())) r_.steps.windows().close_by_limit(ticks(), r_.limits.size);
  if (r_.trace_size.wants_measure() || r_.costs.has_more()) r_.queue.wake.notify_all();
}

void WindowLimits::close_windows(Ticks end, StringId limit) {
  r_.steps.windows().close_by_limit(end, limit);
  r_.phases.close_by_limit(end, limit);
}

void WindowLimits::check_pool(const recorder::PoolState& pool, bool may_free) {
  const Ticks dropped_at = recorder::take_first_drop();
  if (r_.steps.search().kept_from.load() != 0 && r_.steps.windows().current() == nullptr) {
    if (dropped_at != 0 || pool.pressed_by || pool.refused_by) r_.finder->lose_events();
    if (!r_.phases.any_open()) return;
  }
  if (r_.plan.spec.limits.on_limit == OnLimit::kDropOld) {
    // Until a closed window is written, its events stay, and the newest events are lost.
    if (!may_free || window_waits()) return;
    const std::uint32_t chunks = recorder::chunks_in_pool();
    if (pool.pressed_by) recorder::drop_oldest(pool.held / 2);
    if (pool.unused == 0 && pool.free < chunks / 8) recorder::drop_oldest(chunks / 8);
    return;
  }
  if (!closes()) return;
  if (pool.pressed_by) close_windows(ticks(), r_.limits.of_bound(*pool.pressed_by));
  if (dropped_at == 0) return;
  if (pool.refused_by) close_windows(dropped_at, r_.limits.of_bound(*pool.refused_by));
  if (pool.unused == 0) close_windows(dropped_at, r_.limits.of_bound(r_.place.bound));
}

}  // namespace profshim::session
