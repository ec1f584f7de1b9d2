#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "profshim/loop.h"
#include "profshim/spool/view.h"
#include "session/state.h"

namespace profshim::session {

/// Finds the steps of a job in the recorded events. Recording costs time, so the search pauses, longer each time, if it
/// finds nothing. It begins again if the loop that it found has ended.
class StepFinder {
 public:
  explicit StepFinder(State& state);
  /// Begins to record and keep events of all layers. Call while the recording starts, or on the collector thread.
  void begin();
  /// Begins, pauses and resumes the search. Runs on the collector thread.
  void tick();
  /// See wants_look_for_steps() and look_for_steps().
  bool wants_look() const;
  void look_if_wanted();
  /// Call on the collector thread when events were lost or must be freed: the search begins again.
  void lose_events();
  /// True if all events of the recording have been kept.
  bool keeps_all() const { return keeps_all_.load(); }
  /// Takes what was found so far, also if it is not sure. Call when the job ends.
  void finish();

 private:
  struct Result {
    std::unique_ptr<const StepRule> rule;
    std::int32_t tid = 0;
    std::size_t calls = 0;
    bool is_settled = false;
  };
  bool is_full() const;
  /// `is_last`: the result will be used even if it is not settled.
  Result look(bool is_last);
  /// Replaces the result by the steps that another rank found first, if this rank makes them, too.
  void agree(Result& result, const loop::Sequence& sequence, bool must_decide) const;
  void use(Result& result);
  void pause();
  /// True if the steps that were found have stopped.
  bool has_loop_ended(std::int64_t now_ns);
  /// Makes a window of the kept events, unless there is one.
  void save_without_steps();

  State& s_;
  std::unique_ptr<spool::View> view_;
  std::mutex mutex_;  // look() and use()
  std::atomic<bool> keeps_all_{true};
  std::atomic<std::uint64_t> events_before_{0}, events_looked_at_{0};
  std::atomic<std::int64_t> began_ns_{0}, next_look_ns_{0}, resume_ns_{0};
  std::int64_t pause_ns_ = 0;
  int decisions_ = 0;
  // Progress of the found steps, as has_loop_ended() saw it.
  std::uint64_t steps_seen_ = 0;
  std::int64_t first_step_ns_ = 0, last_step_ns_ = 0;
};

/// Records what only the spec wants, and lets the kept events go. Call when Search is over or paused.
void stop_keeping(State& state);

/// Makes the steps of the events since State::kept_from, up to `until`, as if they were seen live. Call on the step
/// thread, or when the job ends.
void take_over(State& state, Ticks until);

}  // namespace profshim::session
