#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "plan.h"
#include "profshim/event.h"
#include "profshim/spec.h"
#include "profshim/window/queue.h"

namespace profshim::session {

/// Returns recorder::mode() for `spec`, without kArmed and the bits of Detail.
std::uint32_t mode_bits(const Spec& spec);

// Events are recorded while the steps or a phase want it.

/// Thread-safe, but for call_when_arming() functions. Never destroyed.
class RecordingSwitch {
 public:
  RecordingSwitch(const Plan& plan, const WindowQueue& queue) : plan_(plan), queue_(queue) {}

  /// The schedule of steps, or the search for steps, wants the recording, or no longer.
  void want_for_steps(bool wanted) { steps_want_.store(wanted); }
  /// One more phase wants the recording, or one less.
  void want_for_phase(bool wanted) { phases_wanting_.fetch_add(wanted ? 1 : -1); }
  bool phases_want() const { return phases_wanting_.load() > 0; }

  /// Switches the recording on, and CUPTI, and calls the functions of call_when_arming(). `window_begin`: 0 = no window
  /// is open.
  void arm(Ticks window_begin);
  /// Switches the recording off, unless the steps or a phase want it. `is_near`: a window opens soon. `often`: it will
  /// be on again soon, and so on, so that the functions of call_when_arming() are not called.
  void disarm(Ticks at, bool is_near, bool often = false);
  /// See call_when_arming() in profshim/session.h.
  void call_when_arming(void (*function)(bool armed));
  /// True if limits.total_traces is reached. Without end if old traces are removed instead.
  bool has_all_traces() const;

 private:
  bool is_wanted() const { return steps_want_.load() || phases_want(); }
  void tell(bool armed) const;

  const Plan& plan_;
  const WindowQueue& queue_;
  std::atomic<bool> steps_want_{false};
  std::atomic<int> phases_wanting_{0};
  std::array<std::atomic<void (*)(bool)>, 2> listeners_{};
};

}  // namespace profshim::session
