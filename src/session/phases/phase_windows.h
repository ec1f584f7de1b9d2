// The windows of a phase with mode = "window": one for each occurrence, or run of ticks inside it, that its schedule
// records. An occurrence belongs to the thread that began it; only this thread counts and opens windows. The collector
// ends windows by limits.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "profshim/recorder.h"
#include "profshim/spec.h"
#include "profshim/window/trace_size.h"
#include "session/steps/steps.h"

namespace profshim::session {

class Phases;

/// The parts of the recording that phases use.
struct PhaseParts {
  const Plan& plan;
  WindowQueue& queue;
  RecordingSwitch& recording;
  const LimitNames& limits;
  TraceSize& trace_size;
  const Steps& steps;
};

class PhaseWindows {
 public:
  /// `index`: place of the phase in the spec.
  PhaseWindows(const PhaseParts& parts, Phases& phases, std::size_t index);

  /// Call on the job's threads for ranges of the phase and its ticks.
  void range_begins(Ticks at);
  void range_ends(Ticks at);
  void tick_begins(Ticks at);

  /// Ends what is over: a phase whose thread has ended or that reached max_seconds, and windows at their limits. Call
  /// every few milliseconds on the collector thread.
  void check();
  /// Collector thread.
  void close_by_limit(Ticks end, StringId limit);
  /// Call when the job ends.
  void close_at_exit(Ticks now);

  bool wants() const { return wants_.load(); }
  const Detail& detail() const { return detail_; }
  bool is_open() const { return window_.load() != nullptr; }
  /// True if no later window opens.
  bool is_over() const;
  std::uint64_t opened() const { return opened_.load(std::memory_order_relaxed); }
  /// A sentence for the log if no window was reached; "" = there was one.
  std::string why_no_window() const;

 private:
  /// The end of the thread, or of the job, is the end of the phase.
  bool is_life() const { return spec_.ranges_of.source == PhaseSource::kThread; }
  const char* unit() const { return spec_.ticks ? "tick" : "occurrence"; }
  std::int64_t next_unit() const;
  void occurrence_begins(Ticks at);
  void occurrence_ends(Ticks at);
  void unit_begins(Ticks at, std::int64_t unit);
  void open(Ticks at, std::int64_t unit);
  void close(Ticks at, spool::WindowEnd why, StringId limit, bool complete);
  /// Switches the recording on, or off unless others want it.
  void want(bool recording, Ticks at, bool is_near = false);
  bool has_owner_ended() const;

  const PhaseParts parts_;
  Phases& phases_;
  const PhaseSpec& spec_;
  const std::uint32_t id_;
  const Schedule schedule_;
  const Detail detail_;
  const double window_seconds_;

  std::atomic<std::int32_t> owner_{0};  // tid; 0 = the phase is not in progress
  std::atomic<const spool::Thread*> owner_block_{nullptr};
  std::atomic<int> depth_{0};   // open ranges of the occurrence
  std::atomic<int> others_{0};  // open ranges of other threads
  std::atomic<std::int64_t> began_ns_{0};
  std::atomic<std::int64_t> occurrences_{0}, ticks_{0};  // begun so far
  std::atomic<bool> wants_{false};
  std::atomic<bool> is_limited_{false};      // a limit has closed the window of the units in progress
  std::atomic<bool> is_cut_{false};          // the occurrence reached max_seconds
  std::atomic<Action> last_{Action::kNone};  // of the unit in progress

  std::atomic<spool::Window*> window_{nullptr};
  std::atomic<std::int64_t> opened_ns_{0};
  std::atomic<std::uint64_t> committed_before_{0};  // events when the window opened
  std::atomic<std::uint64_t> opened_{0};
};

}  // namespace profshim::session
