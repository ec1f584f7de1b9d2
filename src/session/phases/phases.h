// The phases of the spec ([[phase]]) on this rank.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "detail_switch.h"
#include "phase_counters.h"
#include "phase_rule.h"
#include "phase_windows.h"

namespace profshim::session {

/// Unless noted, any thread of the job calls the functions. Never destroyed.
class Phases {
 public:
  explicit Phases(const PhaseParts& parts) : parts_(parts) {}

  /// Describes the phases in the spool, and lets their ranges pass may_be_marker(). Call before the recording begins.
  void define();
  /// Makes the stacks ready that the spec or a phase asks for. Call once when the recording is live.
  void prepare_detail();
  /// Call when a phase begins or ceases to want the recording.
  void update_detail();

  std::uint64_t phases_of(std::string_view text, PhaseSource api) const;
  const std::vector<PhaseRule>& rules() const { return rules_; }
  void begin(std::uint64_t phases, Ticks at);
  void end(std::uint64_t phases, Ticks at);
  void pause(std::uint64_t phases, Ticks at);
  void resume(std::uint64_t phases, Ticks at);
  /// `name`: null = a CUDA graph.
  void kernel_launched(const char* name, Ticks at);
  void thread_ends(spool::Thread& thread, Ticks at);

  bool any_open() const;
  /// True if no later window of a phase opens.
  bool are_over() const;
  /// True if `shows(detail)` is true for the windows of a phase.
  template <class Shows>
  bool any_detail(const Shows& shows) const {
    for (const auto& phase : windows_) {
      if (phase != nullptr && shows(phase->detail())) return true;
    }
    return false;
  }
  /// Collector thread, every few milliseconds: ends what is over.
  void check();
  /// Collector thread.
  void close_by_limit(Ticks end, StringId limit);
  /// Call when the job ends.
  void close_at_exit(Ticks now);
  /// Sentences for the log about phases without a window.
  std::vector<std::string> why_no_window() const;

 private:
  bool has_work() const { return !windows_.empty() || counters_ != nullptr; }
  /// Adds the time since `entered` to the time that the job lost.
  void note_stall(Ticks entered);

  const PhaseParts parts_;
  // Constant once the recording has begun. By place in the spec; null unless the phase has windows.
  std::vector<PhaseRule> rules_;
  std::unique_ptr<KernelRuns> kernel_runs_;
  std::vector<std::unique_ptr<PhaseWindows>> windows_;
  std::unique_ptr<PhaseCounters> counters_;  // null without counters.perf or phases
  std::mutex detail_mutex_;
  DetailSwitch detail_;
};

}  // namespace profshim::session
