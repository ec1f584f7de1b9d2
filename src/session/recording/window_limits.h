// Closes the window, or drops its oldest events, when a limit of [limits] is reached. For the collector thread.
#pragma once

#include <cstdint>

#include "recording.h"

namespace profshim::session {

class WindowLimits {
 public:
  explicit WindowLimits(Recording& recording) : r_(recording) {}

  /// Enforces limits.window_seconds, limits.trace_size and the limit of CUPTI's buffers.
  void check_window();
  /// Enforces the limits of host memory. `may_free`: the writer is not collecting events.
  void check_pool(const recorder::PoolState& pool, bool may_free);

 private:
  /// Closes the windows of the steps and of all phases.
  void close_windows(Ticks end, StringId limit);
  bool closes() const { return r_.plan.spec.limits.on_limit == OnLimit::kCloseWindow; }

  Recording& r_;
  const spool::Window* window_ = nullptr;
  std::int64_t opened_ns_ = 0;
};

}  // namespace profshim::session
