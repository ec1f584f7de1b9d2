#pragma once

#include <atomic>

#include "profshim/recorder_control.h"
#include "session/limit_names.h"
#include "session/recording_switch.h"

namespace profshim::session {

/// The windows of steps, at most one of which is open. The step thread opens them; it, the collector and the thread
/// that ends the recording close them.
class StepWindows {
 public:
  StepWindows(const Plan& plan, WindowQueue& queue, RecordingSwitch& recording)
      : plan_(plan), queue_(queue), recording_(recording) {}

  /// Null = none is open.
  spool::Window* current() const { return current_.load(); }
  void open(Ticks begin, std::uint64_t first_mark, std::int64_t epoch);
  /// Runs on the step thread.
  void close_by_schedule(Ticks at, std::uint64_t mark);
  /// Runs on the collector or step thread.
  void close_by_limit(Ticks end, StringId limit);
  /// `is_last_step_saved`: the schedule saves the window after the last step.
  void close_at_exit(Ticks now, bool is_last_step_saved);
  /// True if a limit has closed the window since the last call. The schedule counts it as open until then.
  bool take_closed_by_limit() { return is_closed_by_limit_.exchange(false); }
  /// The schedule's window is not opened: see take_closed_by_limit().
  void refuse() { is_closed_by_limit_.store(true); }

 private:
  const Plan& plan_;
  WindowQueue& queue_;
  RecordingSwitch& recording_;
  std::atomic<spool::Window*> current_{nullptr};
  std::atomic<bool> is_closed_by_limit_{false};
};

/// Begin of the oldest events that an unwritten window or the search for steps needs, which keeps events since
/// `kept_from`; 0 = none.
Ticks oldest_needed(const std::atomic<Ticks>& kept_from);
/// True if a window is closed and not written.
bool window_waits();

}  // namespace profshim::session
