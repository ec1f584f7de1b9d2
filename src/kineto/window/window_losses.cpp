#include "profshim/base/text/number_text.h"
#include "profshim/trace/schema.h"
#include "window_events.h"

namespace profshim::kineto {
namespace {

double python_late_ms(const WindowEvents& window) {
  return static_cast<double>(window.python_calls.since() - window.begin) / window.clock.ticks_per_ns() / 1e6;
}

std::string python_missing(const WindowEvents& window) {
  if ((window.detail & spool::kPythonCalls) == 0) return {};
  if (window.python_calls.since() == 0) return "this window has no Python calls: none was seen while it was open";
  const double late_ms = python_late_ms(window);
  if (late_ms <= 1) return {};
  return "Python calls of the first " + rounded_text(late_ms, 6) +
         " ms of this window are not recorded: Python's main thread was busy elsewhere; a step of warmup avoids this";
}

/// "" if the window has all that its schedule asks for.
std::string why_cut(const WindowEvents& window) {
  if (window.ended_by == spool::WindowEnd::kNone) return "the process was killed, or still ran, in this window";
  if (window.window.complete != 0) return {};
  if (window.ended_by == spool::WindowEnd::kLimit) return "a limit closed the window early: " + window.limit;
  return window.window.phase != 0 ? "the job or the thread ended in this phase" : "the job ended in this window";
}

std::uint64_t lost_in(const WindowEvents& window, Loss loss) {
  const LossExtent extent = kLossRows[static_cast<std::size_t>(loss)].extent;
  const auto i = static_cast<std::size_t>(loss);
  const bool is_open = window.ended_by == spool::WindowEnd::kNone;
  const std::uint32_t now = spool::losses(window.view.header(), loss);
  const std::uint32_t after = is_open || extent == LossExtent::kUntilWritten ? now : window.window.lost_after[i];
  const std::uint32_t before = extent == LossExtent::kUntilEnd ? 0 : window.window.lost_before[i];
  return after > before ? after - before : 0;
}

}  // namespace

std::string WindowEvents::python_problem() const {
  std::string lost = python_missing(*this);
  const std::uint64_t cut = (detail & spool::kPythonCalls) != 0 ? python_calls.cut() : 0;
  if (cut == 0) return lost;
  return lost + (lost.empty() ? "" : "; ") + std::to_string(cut) +
         " Python calls end where their caller ends, because their own ends were not seen";
}

WindowLosses WindowEvents::losses() const {
  WindowLosses losses;
  losses.cut = why_cut(*this);
  for (std::size_t i = 0; i < kLosses; ++i) {
    if (kLossRows[i].extent != LossExtent::kInDropped) losses.counts[i] = lost_in(*this, static_cast<Loss>(i));
  }
  losses.count(schema::ours::kDroppedEvents, summary.dropped);
  losses.count(schema::ours::kMemoryEntriesLeftOut, memory_left_out);
  for (const Definitions::Problem& problem : definitions.problems()) {
    if (problem.is_loss && problem.since < end) losses.others.emplace_back(problem.sentence);
  }
  if (std::string python = python_missing(*this); !python.empty()) losses.others.push_back(std::move(python));
  if (const std::uint64_t left_out = device.counts().times.all(); left_out > 0)
    losses.others.push_back(std::to_string(left_out) + " GPU events are missing: their times are impossible");
  return losses;
}

}  // namespace profshim::kineto
