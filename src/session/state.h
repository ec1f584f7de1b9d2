// State is never destroyed: threads of the job may use it at exit.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profshim/base/threads/futex_event.h"
#include "profshim/memory_room.h"
#include "profshim/output.h"
#include "profshim/output/manifest.h"
#include "profshim/output/publish.h"
#include "profshim/recorder_control.h"
#include "profshim/session.h"
#include "profshim/spec.h"
#include "profshim/window.h"
#include "session/failed_allocation.h"
#include "session/phases/kernel_runs.h"
#include "session/phases/phase_counters.h"
#include "session/phases/phase_windows.h"
#include "session/phases/phases.h"
#include "session/steps/kernel_names.h"
#include "session/steps/step_rule.h"
#include "session/system/gpu/gpu_sampler.h"
#include "session/write/cpu_use.h"
#include "session/write/event_costs.h"
#include "session/write/trace_size.h"

namespace profshim::session {

/// How far the search for unknown steps is.
enum class Search : std::uint8_t {
  kOver,      // `rule` makes the steps
  kRunning,   // events are recorded; a known range ends the search
  kPaused,    // nothing is recorded
  kChanging,  // `rule` is being replaced; markers wait in the recorded events
  kFound,     // as kRunning; the next marker takes over: see take_over()
};

class StepFinder;
class FinishRunner;

/// Facts for the closing lines about the windows that were written or tried, kept or removed. The writer's, then the
/// ending thread's.
struct EndedWindows {
  std::uint64_t closed_early = 0, dropped = 0, incomplete = 0;
  std::set<std::string> other_losses;  // of incomplete windows: losses that no other closing line tells

  void note(const output::ManifestWindow& window);
};

struct PresentStep {
  Ticks begin = 0;
  std::int64_t begin_ns = 0, previous_ns = 0;  // previous: time of the step before; 0 = unknown
  std::int64_t schedule = 0;                   // as in the schedule
  bool is_armed = false;                       // the schedule records it, or warms up
};

inline constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

/// Only the step thread calls note().
struct StepsSeen {
  std::atomic<bool> any{false};
  std::atomic<std::int64_t> first_number{0}, last_number{0};  // as in the traces
  std::atomic<std::int64_t> first{0}, last{0};                // as in the schedule

  void note(const StepCounter::Step& step) {
    const bool is_first = !any.load(std::memory_order_relaxed);
    if (is_first) first_number.store(step.number, std::memory_order_relaxed);
    last_number.store(step.number, std::memory_order_relaxed);
    if (is_first || step.schedule < first) first.store(step.schedule, std::memory_order_relaxed);
    if (is_first || step.schedule > last) last.store(step.schedule, std::memory_order_relaxed);
    any.store(true, std::memory_order_relaxed);
  }
};

struct State {
  explicit State(Spec in_force)
      : spec(std::move(in_force)),
        automaton(spec.schedule),
        counter(counter_rules(spec)),
        gpu_sampler(spec.system),
        trace_size(spec.limits.trace_size, guessed_bytes_per_event(spec)) {}
  static CounterRules counter_rules(const Spec& spec);

  static double guessed_bytes_per_event(const Spec& spec);

  const Spec spec;
  Rank rank;
  JobIdentity job;
  std::string folder, run_name, run_id, meeting_file;
  int attempt = -1;        // of torchrun, which restarts all ranks; -1 = torchrun has not started this process
  std::string spool_link;  // a name in `folder`; "" = none
  bool first_selected = false;
  EventCostMeter costs;

  // From here to marks_published, only the step thread writes members that are not atomic.
  WindowAutomaton automaton;
  StepCounter counter;
  StepsSeen steps;
  PerfCounters perf;  // open while steps are recorded
  std::atomic<const StepRule*> rule{nullptr};
  std::string epoch_prefix;
  // Constant once the recording has begun. By place in the spec; null unless the phase has windows.
  std::vector<PhaseRule> phase_rules;
  std::unique_ptr<KernelRuns> kernel_runs;
  std::vector<std::unique_ptr<PhaseWindows>> phase_windows;
  std::unique_ptr<PhaseCounters> phase_counters;  // null without counters.perf or phases
  std::mutex detail_mutex;                        // see update_detail()
  bool can_take_stacks = false;                   // constant once the session is live
  bool records_steps = true;                      // false: only phases select this rank
  std::atomic<bool> steps_want{false};            // the schedule of steps, or the search for steps, wants the recording
  std::atomic<int> phases_wanting{0};             // phases that want the recording
  bool in_profiler_range = false;
  PresentStep present_step;
  bool window_was_near = false;  // before the present step
  std::atomic<Search> search{Search::kOver};
  std::atomic<Ticks> kept_from{0};            // while events are kept for the search: none since then are lost or freed
  StepFinder* finder = nullptr;               // null unless must_be_found(spec)
  std::unique_ptr<KernelNames> kernel_names;  // null unless steps.source is "kernel"
  std::atomic<bool> graph_launched{false};
  std::atomic<std::int32_t> step_thread{0};
  std::atomic<bool> last_action_saves{false};
  std::atomic<spool::Window*> current{nullptr};  // open window
  std::atomic<bool> closed_by_limit{false};      // `automaton` does not know yet
  std::atomic<bool> recording_over{false};       // limits.total_traces reached
  std::atomic<bool> schedule_over{false};        // no later step is recorded
  std::atomic<bool> spool_removed{false};        // set by the writer
  std::atomic<Ticks> stall_ticks{0};             // time in step_boundary(), phases_begin() and phases_end()
  std::atomic<std::uint64_t> windows_opened{0};
  std::atomic<bool> disk_is_full{false};  // limits.disk_free: see check_disk()
  std::atomic<std::uint64_t> windows_without_step{0};
  std::atomic<std::uint64_t> marks_published{0};  // set by the writer: step marks before this one are in files
  std::atomic<std::uint64_t> windows_done{0};     // set by the writer: written, dropped or failed
  FailedAllocation failed_allocation;

  StringId limit_time = 0, limit_size = 0, limit_marks = 0, limit_device = 0;
  StringId limit_of[recorder::kBounds] = {};
  StringId limit_reason(recorder::Bound bound) const { return limit_of[static_cast<std::size_t>(bound)]; }

  std::unique_ptr<recorder::MemoryRoom> room;
  recorder::Bound pool_bound = recorder::Bound::kHostMemory;
  std::uint64_t memory = 0;  // host bytes for the spool, the writer and CUPTI's buffers
  std::string why_no_file;

  std::mutex mutex;
  FutexEvent wake, progress;  // wake: writer; progress: collector, ending thread
  std::mutex gathering;       // held by the writer to collect events, by the collector to free chunks
  bool stop = false;          // guarded by mutex
  bool writer_done = false;   // guarded by mutex
  std::atomic<std::int64_t> begin_until_ns{kNoEnd};  // set before `stop`: the writer begins no window after this time
  std::atomic<std::uint64_t> windows_waiting{0};     // set by the writer: closed, not written
  std::atomic<bool> end_asked{false};
  std::atomic<End> how_asked{End::kAbrupt};  // set before end_asked
  std::atomic<std::uint64_t> progress_count{0};
  output::Manifest manifest;
  pthread_t collector_thread{}, writer_thread{};
  std::atomic<pid_t> collector_tid{0}, writer_tid{0};
  WindowCpu cpu;
  GpuSampler gpu_sampler;
  TraceSize trace_size;
  sigset_t job_signals{};  // signal mask of the thread that called activate()
  std::atomic<void (*)()> every_tick[4] = {};
  std::array<std::atomic<void (*)(bool)>, 2> when_arming{};
  std::atomic<std::uint64_t> written{0}, failed{0};
  std::atomic<std::uint64_t> traces_removed{0};  // of `written`: by retention
  FinishRunner* finish = nullptr;                // null unless this rank runs finish.command
  bool finish_failed = false;                    // in one of its runs
  EndedWindows ended;
  std::string last_table;  // text of summary.table, of the newest window; the writer's, then the ending thread's
  std::string first_file;  // guarded by mutex
};

/// Returns null unless this process records.
State* live();

std::array<pid_t, 4> own_threads(const State& state);

void* run_collector(void* state);
void* run_writer(void* state);

/// True if look_for_steps() would look. Any thread.
bool wants_look_for_steps(const State& state);
/// Looks for the job's loop if there is new evidence, which may take a second. Runs on the writer thread, which is idle
/// during the search.
void look_for_steps(State& state);

/// True if a window of steps or of a phase is open. Any thread.
bool has_open_window(const State& state);

/// After a signal, also ends the process. Runs on the collector thread.
void end_if_asked(State& state);
}  // namespace profshim::session
