#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "profshim/loop.h"
#include "profshim/spool/view.h"
#include "shared_steps.h"
#include "steps.h"

namespace profshim::session {

/// Finds the steps of a job in the recorded events. Recording costs time, so the search pauses, longer each time, if it
/// finds nothing. It begins again if the loop that it found has ended. Never destroyed.
class StepFinder {
 public:
  StepFinder(const Plan& plan, WindowQueue& queue, RecordingSwitch& recording, Steps& steps);
  /// Begins to record and keep events of all layers. Call while the recording starts, or on the collector thread.
  void begin();
  /// Begins, pauses and resumes the search. Runs on the collector thread.
  void tick();
  /// True if look_if_wanted() would look. Any thread.
  bool wants_look() const;
  /// Looks for the job's loop if there is new evidence, which may take a second. Runs on the writer thread while it is
  /// idle.
  void look_if_wanted();
  /// Call on the collector thread when events were lost or must be freed: the search begins again.
  void lose_events();
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
  /// Returns how long a thread has waited for a CPU since this search first asked for it.
  std::int64_t waited_ns(std::int32_t tid);
  /// Replaces the result by the steps that another rank found first, if this rank makes them, too.
  void agree(Result& result, const loop::RecordedCalls& calls, bool must_decide);
  void use(Result& result);
  void pause();
  /// True if the steps that were found have stopped.
  bool has_loop_ended(std::int64_t now_ns);

  const Plan& plan_;
  WindowQueue& queue_;
  RecordingSwitch& recording_;
  Steps& steps_;
  StepSearch& search_;
  std::unique_ptr<spool::View> view_;
  std::mutex mutex_;  // look() and use()
  std::atomic<std::uint64_t> events_before_{0}, events_looked_at_{0};
  std::atomic<std::int64_t> began_ns_{0}, next_look_ns_{0}, resume_ns_{0};
  std::int64_t pause_ns_ = 0;
  int decisions_ = 0;
  // Per thread, and when that search began: how long it had waited for a CPU at the first look.
  std::map<std::int32_t, std::int64_t> waited_before_ns_;
  std::int64_t asked_since_ns_ = 0;
  SearchOfRanks ranks_;
  std::atomic<std::int64_t> found_after_ns_{0};  // steps that no other rank can take; since the first call; 0 = none
  bool ends_ = false;
  // Progress of the found steps, as has_loop_ended() saw it.
  std::uint64_t steps_seen_ = 0;
  std::int64_t first_step_ns_ = 0, last_step_ns_ = 0;
};

}  // namespace profshim::session
