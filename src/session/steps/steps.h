#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_names.h"
#include "profshim/event.h"
#include "profshim/perf_counters.h"
#include "profshim/window.h"
#include "session/plan.h"
#include "step_markers.h"
#include "step_rule.h"
#include "step_windows.h"

namespace profshim::session {

// The search for the steps of a job whose spec does not name them: how far it is, and which events it keeps.

/// How far the search for unknown steps is.
enum class Search : std::uint8_t {
  kOver,      // the rule makes the steps
  kRunning,   // events are recorded; a known range ends the search
  kPaused,    // nothing is recorded
  kChanging,  // the rule is being replaced; markers wait in the recorded events
  kFound,     // as kRunning; the next marker takes over: see Steps::take_over()
};

struct StepSearch {
  std::atomic<Search> state{Search::kOver};
  std::atomic<Ticks> kept_from{0};    // while events are kept for the search: none since then are lost or freed
  std::atomic<bool> keeps_all{true};  // all events of the recording have been kept

  /// 0 = keeps none.
  void keep_from(const Plan& plan, Ticks since);
  /// Records what only the spec wants, and lets the kept events go. Call when the search is over or paused.
  void stop_keeping(const Plan& plan);
};

/// Mode bits of layers that only the search needs.
std::uint32_t only_searched(const Spec& spec);

/// Step boundaries take no lock and allocate memory only for new kernel names and for counters that cannot be opened,
/// except in the functions of call_when_arming().
struct PresentStep {
  Ticks begin = 0;
  std::int64_t begin_ns = 0, previous_ns = 0;  // previous: time of the step before; 0 = unknown
  std::int64_t schedule = 0;                   // as in the schedule
  bool is_armed = false;                       // the schedule records it, or warms up
};

/// Only the step thread calls note().
struct StepsSeen {
  std::atomic<bool> any{false};
  std::atomic<std::int64_t> first_number{0}, last_number{0};  // as in the traces
  std::atomic<std::int64_t> first{0}, last{0};                // as in the schedule

  void note(const StepCounter::Step& step);
};

struct Boundary {
  Ticks at = 0;
  std::int64_t at_ns = 0;  // monotonic_ns()
  StringId marker = 0;
  bool is_now = false;  // false: found later, in the recorded events
};

/// The steps of the job. Unless noted, only the step thread calls the functions and uses the members: the first thread
/// that makes a boundary.
class Steps {
 public:
  Steps(const Plan& plan, WindowQueue& queue, RecordingSwitch& recording, const LimitNames& limits);

  /// Call before the recording begins.
  void set_up();
  /// Begins step 0 if markers end the steps, or the window of the whole run. Call once when the recording is live,
  /// unless the steps must be found.
  void begin(Ticks began);

  /// True on the step thread. Counts boundaries of other threads.
  bool on_step_thread();
  void boundary(Ticks at, std::optional<std::int64_t> number, StringId marker);
  void marker_ended(Ticks at);
  void kernel_launched(const char* name, Ticks at);
  void graph_launched();
  void profiler_range(bool begins, Ticks at);
  void epoch_boundary(std::string_view text);

  /// Any thread. True if a marker of `rule` makes steps: false for a known range when the search has found other steps.
  bool may_make_steps(const StepRule& rule) const;
  /// Any thread. The events that make the steps now.
  const StepRule& rule() const { return *rule_.load(std::memory_order_acquire); }
  /// As in the spec, or as found: "nvtx iteration*".
  std::string source_text() const;
  /// Runs on the writer thread: from now on, the events of `rule` make the steps, on thread `tid`.
  void use_found(const StepRule* rule, std::int32_t tid);
  /// Makes the steps of the events that the search kept, up to `until`, as if they were seen live. Call on the step
  /// thread, or when the job ends.
  void take_over(Ticks until);
  /// Makes a window without steps of the events that the search kept, up to now. Call on the collector thread, or when
  /// the job ends.
  void save_without_steps();
  /// The thread that ends the recording.
  void close_at_exit(Ticks now);

  /// Any thread. True while events are recorded only to find the steps.
  bool only_searches() const;
  /// Any thread. True if `tid` makes the steps.
  bool is_step_thread(std::int32_t tid) const { return thread_.load(std::memory_order_relaxed) == tid; }

  StepWindows& windows() { return windows_; }
  const StepWindows& windows() const { return windows_; }
  StepSearch& search() { return search_; }
  /// Any thread.
  const StepsSeen& seen() const { return seen_; }
  /// Open while steps are recorded.
  const PerfCounters& counters() const { return perf_; }
  /// True if a window opens soon after `step`. `step_ns`: time of one step; 0 = unknown.
  bool is_window_near(std::int64_t step, std::int64_t step_ns) const;

 private:
  /// Opens and closes windows at the boundary. Then call arm() once.
  void begin_step(const StepCounter::Step& step, const Boundary& boundary);
  /// Switches the recording on or off, as the present step wants.
  void arm();
  void begin_first_step(Ticks at);
  void set_rule(const StepRule* rule);
  bool end_search(Ticks at);
  void make_steps(const spool::View& view, const std::vector<RecordedMarker>& markers);
  bool has_room_for_mark() const;
  void open_counters(const Boundary& boundary);
  PerfReading counters_at(const Boundary& boundary) const;

  const Plan& plan_;
  WindowQueue& queue_;
  RecordingSwitch& recording_;
  const LimitNames& limits_;
  StepWindows windows_;
  StepSearch search_;
  WindowAutomaton automaton_;
  StepCounter counter_;
  StepsSeen seen_;
  PerfCounters perf_;
  std::atomic<const StepRule*> rule_{nullptr};
  std::string epoch_prefix_;
  std::unique_ptr<KernelNames> kernel_names_;  // null unless steps.source is "kernel"
  std::atomic<bool> is_graph_reported_{false};
  std::atomic<std::int32_t> thread_{0};  // 0 = no boundary yet
  bool is_in_profiler_range_ = false;
  PresentStep present_;
  bool was_window_near_ = false;            // before the present step
  std::atomic<bool> is_last_saved_{false};  // the schedule saves the window after the present step
};

}  // namespace profshim::session
