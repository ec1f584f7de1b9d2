#include "steps.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "session/steps/find/step_finder.h"
#include "window_control.h"

namespace profshim::session {

using recorder::kArmed;

CounterRules State::counter_rules(const Spec& spec) {
  CounterRules rules;
  rules.every = spec.steps.every;
  rules.min_interval_ns = spec.steps.min_interval_ms * 1'000'000;
  rules.absolute = spec.steps.absolute;
  rules.first = spec.steps.first;
  rules.per_epoch = spec.schedule_per_epoch;
  rules.at_end = spec.steps.edge_end;
  return rules;
}

bool on_step_thread(State& s) {
  const spool::Thread* const thread = recorder::this_thread();
  const std::int32_t tid =
      thread != nullptr ? thread->tid.load(std::memory_order_relaxed) : static_cast<std::int32_t>(syscall(SYS_gettid));
  std::int32_t owner = s.step_thread.load(std::memory_order_relaxed);
  if (owner == tid) return true;
  if (owner != 0 || !s.step_thread.compare_exchange_strong(owner, tid)) {
    recorder::header().foreign_boundaries.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  recorder::header().step_tid = tid;
  return true;
}

namespace {

// Per thread: launches of other threads must not split a series of matches.
thread_local constinit bool last_kernel_matched __attribute__((tls_model("initial-exec"))) = false;

// The spool's step marks are a ring: marks of unwritten windows must not be overwritten.
bool room_for_mark(const State& s) {
  const std::uint64_t made = recorder::header().marks.load(std::memory_order_relaxed);
  return made - s.marks_published.load(std::memory_order_acquire) < spool::kMaxMarks;
}

// The job's own step numbers may go back, and an epoch may restart the schedule.
bool is_schedule_over(const Spec& spec, std::int64_t step) {
  return !spec.steps.absolute && !spec.schedule_per_epoch && spec.schedule.over(step);
}

}  // namespace

namespace {

/// A marker of the rule in force ends the search. If the search has found that rule, its earlier markers count, too.
/// Returns false if this marker must not count yet.
bool end_search(State& s, Ticks at) {
  for (Search search = s.search.load(std::memory_order_acquire); search != Search::kOver;) {
    if (search == Search::kChanging) return false;
    if (search == Search::kFound) {
      take_over(s, at);
    } else if (s.search.compare_exchange_weak(search, Search::kOver)) {
      stop_keeping(s);
    } else {
      continue;
    }
    break;
  }
  return true;
}

/// Returns the CPU time of this thread, or kUnknownCpu. The system call takes 0.2 to 0.8 us, at most 2 % of a step.
std::int64_t cpu_time(const Boundary& boundary, std::int64_t previous_ns) {
  constexpr std::int64_t kLeastStep_ns = 50'000;
  if (!boundary.is_now || (previous_ns != 0 && previous_ns < kLeastStep_ns)) return spool::kUnknownCpu;
  timespec used{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return spool::kUnknownCpu;
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

void open_counters(State& s, const Boundary& boundary) {
  if (s.spec.counters.perf.empty() || !boundary.is_now || s.perf.is_open()) return;
  for (const std::string& loss : s.perf.open(s.spec.counters.perf)) recorder::missing("counters", loss);
}

PerfReading counters_at(const State& s, const Boundary& boundary) {
  if (!boundary.is_now || !s.perf.is_open()) return {};
  const spool::SpoolHeader& h = recorder::header();
  if (h.marks.load(std::memory_order_relaxed) - s.marks_published.load(std::memory_order_relaxed) >= h.counter_count)
    recorder::missing("counters", "counters of steps are lost: " + std::to_string(h.counter_count) +
                                      " recorded steps wait to be written; raise limits.host_memory");
  return s.perf.read();
}

}  // namespace

void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker) {
  State* const s = live();
  if (s == nullptr || !on_step_thread(*s)) return;
  const Ticks entered = ticks();
  if (!end_search(*s, at)) return;
  const std::int64_t now_ns = monotonic_ns();
  const std::optional<StepCounter::Step> step = s->counter.on_marker(now_ns, number);
  if (!step) return;
  begin_step(*s, *step, {at, now_ns, marker, true});
  arm_for_step(*s);
  s->stall_ticks.fetch_add(ticks() - entered, std::memory_order_relaxed);
}

void begin_step(State& s, const StepCounter::Step& step, const Boundary& boundary) {
  const Ticks at = boundary.at;
  spool::SpoolHeader& header = recorder::header();
  // The stretch behind the last marker that ends a step is no step.
  const std::int64_t seen = s.rule.load()->at_end ? step.index : step.index + 1;
  header.steps_seen.store(static_cast<std::uint64_t>(seen), std::memory_order_relaxed);
  if (header.step_marker == 0) header.step_marker = boundary.marker;
  s.steps.note(step);
  if (s.closed_by_limit.exchange(false)) s.automaton.closed_by_limit();

  PresentStep& present = s.present_step;
  const Transition transition = s.automaton.on_step(step.schedule);
  // Ignores the first step, which may create contexts and compile.
  present = {.begin = at,
             .begin_ns = boundary.at_ns,
             .previous_ns = step.index >= 2 ? boundary.at_ns - present.begin_ns : 0,
             .schedule = step.schedule,
             .is_armed = transition.armed};
  s.last_action_saves = s.spec.schedule.action_of(step.schedule) == Action::kRecordAndSave;
  if (spool::Window* const window = s.current.load()) window->last_step_end.store(0, std::memory_order_relaxed);
  if (!room_for_mark(s)) {
    close_by_limit(s, at, s.limit_marks);
    if (transition.open) recorder::lose_window(LostWindow::kMarksFull);
    present.is_armed = false;
    s.closed_by_limit.store(true);
    return;
  }
  std::uint64_t mark = 0;
  const bool will_be_open = transition.open || s.automaton.open();
  // The first counter of a machine may take milliseconds to open: better in a warm-up step.
  if (will_be_open || transition.armed) open_counters(s, boundary);
  if (will_be_open || transition.close) {
    const std::int64_t cpu_ns = cpu_time(boundary, present.previous_ns);
    mark = recorder::add_mark({at, step.index, step.number, cpu_ns}, counters_at(s, boundary));
  }
  if (!will_be_open && !transition.armed) s.perf.close();
  if (transition.close) close_by_schedule(s, at, mark);
  if (transition.open) open_window(s, at, mark);
  if (!transition.armed && is_schedule_over(s.spec, step.schedule)) {
    s.schedule_over.store(true);
    recorder::set_mode(0, recorder::kOperatorSteps);
  }
}

void begin_first_step(State& s, Ticks at) {
  if (s.rule.load()->at_end) begin_step(s, s.counter.before_markers(), {.at = at, .at_ns = monotonic_ns()});
}

void arm_for_step(State& s) {
  const PresentStep& present = s.present_step;
  const bool has_window = s.current.load() != nullptr;
  const bool arm = s.records_steps && present.is_armed && !s.recording_over.load(std::memory_order_relaxed) &&
                   (!s.automaton.open() || has_window);
  s.steps_want.store(arm);
  if (arm) {
    s.window_was_near = false;
    recorder::set_mode(kArmed, 0);
    arm_others(s, has_window ? present.begin : 0);
  } else {
    s.window_was_near = window_is_near(s, present.schedule, present.previous_ns);
    disarm(s, present.begin, s.window_was_near);
  }
}

// Closes the window at Stop: the next Start may never come.
void on_profiler_range(bool begins, Ticks at) {
  State* const s = live();
  if (s == nullptr || s->spec.steps.source != StepSource::kCudaProfilerApi || !on_step_thread(*s)) return;
  if (s->in_profiler_range == begins) return;
  s->in_profiler_range = begins;
  if (begins) {
    const std::uint64_t before = recorder::header().steps_seen.load(std::memory_order_relaxed);
    step_boundary(at, std::nullopt, recorder::intern_literal("cudaProfilerStart"));
    // If steps.every or steps.min_interval_ms suppressed this Start, its Stop is ignored, too.
    s->in_profiler_range = recorder::header().steps_seen.load(std::memory_order_relaxed) != before;
    return;
  }
  step_marker_ended(at);
  if (s->last_action_saves && s->current.load() != nullptr) {
    close_by_schedule(*s, at, recorder::header().marks.load(std::memory_order_acquire));
    s->automaton.closed_by_limit();
    s->steps_want.store(false);
    disarm(*s, at, false);
  }
}

void on_kernel_launch(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr) return;
  s->kernel_runs->launched(name, at);
  if (s->kernel_names == nullptr) return;
  const bool follows_a_match = last_kernel_matched;
  last_kernel_matched = s->kernel_names->matches(name);
  if (last_kernel_matched && !follows_a_match) step_boundary(at, std::nullopt, recorder::intern(name));
}

void on_graph_launch() {
  State* const s = live();
  if (s == nullptr) return;
  s->kernel_runs->launched(nullptr, ticks());
  last_kernel_matched = false;
  if (s->graph_launched.exchange(true, std::memory_order_relaxed)) return;
  recorder::problem("steps",
                    "the kernels of CUDA graphs make no steps and no phases: CUPTI does not name them at the launch; "
                    "use another steps.source, and ranges for phases");
}

void step_marker_ended(Ticks at) {
  State* const s = live();
  if (s == nullptr || !on_step_thread(*s)) return;
  if (spool::Window* const window = s->current.load()) window->last_step_end.store(at, std::memory_order_relaxed);
}

}  // namespace profshim::session
