#include "overhead.h"

#include <iterator>

namespace profshim::write {
namespace {

// Returns nanoseconds; < 0 = unknown.
double spent_recording(const kineto::WindowSummary& summary, const EventCosts& costs) {
  double sum = 0;
  const auto add = [&sum](std::uint64_t events, double each) {
    if (events == 0 || sum < 0) return;
    sum = each < 0 ? -1 : sum + static_cast<double>(events) * each;
  };
  for (std::size_t i = 0; i < std::size(costs.of_layer); ++i) add(summary.of_layer[i], costs.of_layer[i]);
  add(summary.memory, costs.memory);
  return sum;
}

}  // namespace

double overhead_percent(const spool::View& view, const spool::Window& window, const kineto::WindowSummary& summary,
                        const EventCosts& costs) {
  const Ticks end = window.end.load(std::memory_order_acquire);
  if (end <= window.begin) return -1;
  const ClockMap clock(view.anchors(), view.header().clock);
  const auto lasted_ns = static_cast<double>(clock.unix_ns(end) - clock.unix_ns(window.begin));
  const double spent_ns = spent_recording(summary, costs);
  return lasted_ns > 0 && spent_ns >= 0 ? 100.0 * spent_ns / lasted_ns : -1;
}

}  // namespace profshim::write
