#include "steps.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <exception>

#include "profshim/base/glob.h"
#include "profshim/base/threads/signal_guard.h"
#include "profshim/recorder_control.h"
#include "session/recording_switch.h"
#include "step_markers.h"

namespace profshim::session {

std::uint32_t only_searched(const Spec& spec) {
  return (recorder::kMpi | recorder::kNccl | recorder::kNvtx | recorder::kTorch) & ~mode_bits(spec);
}

void StepSearch::keep_from(const Plan& plan, Ticks since) {
  kept_from.store(since);
  recorder::keep_for_search(plan.records_steps ? since : 0);
}

void StepSearch::stop_keeping(const Plan& plan) {
  recorder::set_mode(0, only_searched(plan.spec));
  recorder::header().searched_until.store(ticks());
  keep_from(plan, 0);
}

namespace {

// Per thread: launches of other threads must not split a series of matches.
thread_local constinit bool last_kernel_matched __attribute__((tls_model("initial-exec"))) = false;

// The job's own step numbers may go back, and an epoch may restart the schedule.
bool is_schedule_over(const Spec& spec, std::int64_t step) {
  return !spec.steps.absolute && !spec.schedule_per_epoch && spec.schedule.is_over(step);
}

CounterRules counter_rules(const Spec& spec) {
  CounterRules rules;
  rules.every = spec.steps.every;
  rules.min_interval_ns = spec.steps.min_interval_ms * 1'000'000;
  rules.absolute = spec.steps.absolute;
  rules.first = spec.steps.first;
  rules.per_epoch = spec.schedule_per_epoch;
  rules.at_end = spec.steps.edge_end;
  return rules;
}

/// Returns the CPU time of this thread, or kUnknownCpu. The system call takes 0.2 to 0.8 us, at most 2 % of a step.
std::int64_t cpu_time(const Boundary& boundary, std::int64_t previous_ns) {
  constexpr std::int64_t kLeastStep_ns = 50'000;
  if (!boundary.is_now || (previous_ns != 0 && previous_ns < kLeastStep_ns)) return spool::kUnknownCpu;
  timespec used{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return spool::kUnknownCpu;
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

void StepsSeen::note(const StepCounter::Step& step) {
  const bool is_first = !any.load(std::memory_order_relaxed);
  if (is_first) first_number.store(step.number, std::memory_order_relaxed);
  last_number.store(step.number, std::memory_order_relaxed);
  if (is_first || step.schedule < first) first.store(step.schedule, std::memory_order_relaxed);
  if (is_first || step.schedule > last) last.store(step.schedule, std::memory_order_relaxed);
  any.store(true, std::memory_order_relaxed);
}

Steps::Steps(const Plan& plan, WindowQueue& queue, RecordingSwitch& recording, const LimitNames& limits)
    : plan_(plan),
      queue_(queue),
      recording_(recording),
      limits_(limits),
      windows_(plan, queue, recording),
      automaton_(plan.spec.schedule),
      counter_(counter_rules(plan.spec)) {}

void Steps::set_up() {
  set_rule(rule_of(plan_.spec));
  if (plan_.spec.steps.source == StepSource::kKernel) {
    kernel_names_ = std::make_unique<KernelNames>(plan_.spec.steps.pattern);
  }
  epoch_prefix_ = glob_literal_prefix(plan_.spec.steps.epoch);
}

void Steps::begin(Ticks began) {
  const Ticks now = began != 0 ? began : ticks();
  if (plan_.spec.steps.source == StepSource::kNone) {
    windows_.open(now, spool::kNoMark, counter_.epoch());
    if (windows_.current() == nullptr) return;
    recording_.want_for_steps(true);
    recording_.arm(now);
  } else if (rule().at_end) {
    begin_first_step(now);
    arm();
  }
}

bool Steps::on_step_thread() {
  const spool::Thread* const thread = recorder::this_thread();
  const std::int32_t tid =
      thread != nullptr ? thread->tid.load(std::memory_order_relaxed) : static_cast<std::int32_t>(syscall(SYS_gettid));
  std::int32_t owner = thread_.load(std::memory_order_relaxed);
  if (owner == tid) return true;
  if (owner != 0 || !thread_.compare_exchange_strong(owner, tid)) {
    recorder::header().foreign_boundaries.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  recorder::header().step_tid = tid;
  return true;
}

// The spool's step marks are a ring: marks of unwritten windows must not be overwritten.
bool Steps::has_room_for_mark() const {
  const std::uint64_t made = recorder::header().marks.load(std::memory_order_relaxed);
  return made - queue_.marks_published.load(std::memory_order_acquire) < spool::kMaxMarks;
}

/// A marker of the rule in force ends the search. If the search has found that rule, its earlier markers count, too.
/// Returns false if this marker must not count yet.
bool Steps::end_search(Ticks at) {
  for (Search search = search_.state.load(std::memory_order_acquire); search != Search::kOver;) {
    if (search == Search::kChanging) return false;
    if (search == Search::kFound) {
      take_over(at);
    } else if (search_.state.compare_exchange_weak(search, Search::kOver)) {
      search_.stop_keeping(plan_);
    } else {
      continue;
    }
    break;
  }
  return true;
}

void Steps::open_counters(const Boundary& boundary) {
  const auto& wanted = plan_.spec.counters.perf;
  if (wanted.empty() || !boundary.is_now || perf_.is_open()) return;
  for (const std::string& loss : perf_.open(wanted)) recorder::missing("counters", loss);
}

PerfReading Steps::counters_at(const Boundary& boundary) const {
  if (!boundary.is_now || !perf_.is_open()) return {};
  const spool::SpoolHeader& h = recorder::header();
  const std::uint64_t waiting =
      h.marks.load(std::memory_order_relaxed) - queue_.marks_published.load(std::memory_order_relaxed);
  if (waiting >= h.counter_count)
    recorder::missing("counters", "counters of steps are lost: " + std::to_string(h.counter_count) +
                                      " recorded steps wait to be written; raise limits.host_memory");
  return perf_.read();
}

void Steps::boundary(Ticks at, std::optional<std::int64_t> number, StringId marker) {
  if (!on_step_thread()) return;
  const Ticks entered = ticks();
  if (!end_search(at)) return;
  const std::int64_t now_ns = monotonic_ns();
  const std::optional<StepCounter::Step> step = counter_.on_marker(now_ns, number);
  if (!step) return;
  begin_step(*step, {at, now_ns, marker, true});
  arm();
  queue_.stall_ticks.fetch_add(ticks() - entered, std::memory_order_relaxed);
}

void Steps::begin_step(const StepCounter::Step& step, const Boundary& boundary) {
  const Ticks at = boundary.at;
  spool::SpoolHeader& header = recorder::header();
  // The stretch behind the last marker that ends a step is no step.
  const std::int64_t seen = rule().at_end ? step.index : step.index + 1;
  header.steps_seen.store(static_cast<std::uint64_t>(seen), std::memory_order_relaxed);
  if (header.step_marker == 0) header.step_marker = boundary.marker;
  seen_.note(step);
  if (windows_.take_closed_by_limit()) automaton_.closed_by_limit();

  const Transition transition = automaton_.on_step(step.schedule);
  // Ignores the first step, which may create contexts and compile.
  present_ = {.begin = at,
              .begin_ns = boundary.at_ns,
              .previous_ns = step.index >= 2 ? boundary.at_ns - present_.begin_ns : 0,
              .schedule = step.schedule,
              .is_armed = transition.armed};
  is_last_saved_ = plan_.spec.schedule.action_of(step.schedule) == Action::kRecordAndSave;
  if (spool::Window* const window = windows_.current()) window->last_step_end.store(0, std::memory_order_relaxed);
  if (!has_room_for_mark()) {
    windows_.close_by_limit(at, limits_.marks);
    if (transition.open) recorder::lose_window(LostWindow::kMarksFull);
    present_.is_armed = false;
    windows_.refuse();
    return;
  }
  std::uint64_t mark = 0;
  const bool will_be_open = transition.open || automaton_.open();
  // The first counter of a machine may take milliseconds to open: better in a warm-up step.
  if (will_be_open || transition.armed) open_counters(boundary);
  if (will_be_open || transition.close) {
    const std::int64_t cpu_ns = cpu_time(boundary, present_.previous_ns);
    mark = recorder::add_mark({at, step.index, step.number, cpu_ns}, counters_at(boundary));
  }
  if (!will_be_open && !transition.armed) perf_.close();
  if (transition.close) windows_.close_by_schedule(at, mark);
  if (transition.open) windows_.open(at, mark, counter_.epoch());
  if (!transition.armed && is_schedule_over(plan_.spec, step.schedule)) {
    queue_.steps_over.store(true);
    recorder::set_mode(0, recorder::kOperatorSteps);
  }
}

void Steps::begin_first_step(Ticks at) {
  if (rule().at_end) begin_step(counter_.before_markers(), {.at = at, .at_ns = monotonic_ns()});
}

void Steps::arm() {
  const bool has_window = windows_.current() != nullptr;
  const bool is_wanted = plan_.records_steps && present_.is_armed &&
                         !queue_.all_opened.load(std::memory_order_relaxed) && (!automaton_.open() || has_window);
  recording_.want_for_steps(is_wanted);
  if (is_wanted) {
    was_window_near_ = false;
    recording_.arm(has_window ? present_.begin : 0);
  } else {
    was_window_near_ = is_window_near(present_.schedule, present_.previous_ns);
    recording_.disarm(present_.begin, was_window_near_);
  }
}

// Switching CUPTI on takes milliseconds to seconds, so it begins when a window is near. cudaProfilerStart cannot be
// predicted: it waits for CUPTI.
bool Steps::is_window_near(std::int64_t step, std::int64_t step_ns) const {
  constexpr std::int64_t kNear_ns = 500'000'000, kFewSteps = 20;
  if (!row_of(plan_.spec.steps.source).has(StepSourceRow::kForeseen) || queue_.all_opened.load()) return false;
  const std::optional<std::int64_t> next = plan_.spec.schedule.next_recorded(step + 1);
  if (!next) return false;
  if (was_window_near_) return true;  // a long step must not switch CUPTI off again
  const std::int64_t steps = *next - step;
  return steps == 1 || steps <= (step_ns > 0 ? kNear_ns / step_ns : kFewSteps);
}

// Closes the window at Stop: the next Start may never come.
void Steps::profiler_range(bool begins, Ticks at) {
  if (plan_.spec.steps.source != StepSource::kCudaProfilerApi || !on_step_thread()) return;
  if (is_in_profiler_range_ == begins) return;
  is_in_profiler_range_ = begins;
  if (begins) {
    const std::uint64_t before = recorder::header().steps_seen.load(std::memory_order_relaxed);
    boundary(at, std::nullopt, recorder::intern_literal("cudaProfilerStart"));
    // If steps.every or steps.min_interval_ms suppressed this Start, its Stop is ignored, too.
    is_in_profiler_range_ = recorder::header().steps_seen.load(std::memory_order_relaxed) != before;
    return;
  }
  marker_ended(at);
  if (is_last_saved_ && windows_.current() != nullptr) {
    windows_.close_by_schedule(at, recorder::header().marks.load(std::memory_order_acquire));
    automaton_.closed_by_limit();
    recording_.want_for_steps(false);
    recording_.disarm(at, false);
  }
}

void Steps::kernel_launched(const char* name, Ticks at) {
  if (kernel_names_ == nullptr) return;
  const bool follows_a_match = last_kernel_matched;
  last_kernel_matched = kernel_names_->matches(name);
  if (last_kernel_matched && !follows_a_match) boundary(at, std::nullopt, recorder::intern(name));
}

void Steps::graph_launched() {
  if (kernel_names_ != nullptr) last_kernel_matched = false;
  if (is_graph_reported_.exchange(true, std::memory_order_relaxed)) return;
  recorder::problem("steps",
                    "the kernels of CUDA graphs make no steps and no phases: CUPTI does not name them at the launch; "
                    "use another steps.source, and ranges for phases");
}

void Steps::marker_ended(Ticks at) {
  if (!on_step_thread()) return;
  if (spool::Window* const window = windows_.current()) window->last_step_end.store(at, std::memory_order_relaxed);
}

bool Steps::only_searches() const {
  return search_.kept_from.load() != 0 && windows_.current() == nullptr && !recording_.phases_want();
}

std::string Steps::source_text() const {
  const std::string text = rule().text();
  const Spec& spec = plan_.spec;
  return spec.steps.source == StepSource::kTime ? text + " " + std::to_string(spec.steps.every_ms) + " ms" : text;
}

void Steps::take_over(Ticks until) {
  Search found = Search::kFound;
  if (!search_.state.compare_exchange_strong(found, Search::kOver)) return;
  const StepRule& rule = this->rule();
  CounterRules rules = counter_rules(plan_.spec);
  rules.every *= rule.every;
  rules.at_end = rule.at_end;
  counter_ = StepCounter(rules);
  // A list names the job's own steps; a cycle only needs steps in a row.
  if (search_.keeps_all.load()) counter_.skip(earlier_markers(rule.pattern), plan_.spec.schedule.steps.empty());
  const Ticks since = search_.kept_from.load();
  begin_first_step(since);
  try {
    std::string why_not;
    const auto view = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
    std::vector<RecordedMarker> markers;
    {
      const Uninterrupted no_handler_of_the_job;
      const std::lock_guard no_chunk_changes_hands(queue_.gathering);
      if (view != nullptr) markers = recorded_markers(*view, rule, thread_.load(), since, until);
    }
    if (view != nullptr) make_steps(*view, markers);
  } catch (const std::exception&) {  // no memory: the steps are counted from here
  }
  arm();
  search_.stop_keeping(plan_);
}

void Steps::make_steps(const spool::View& view, const std::vector<RecordedMarker>& markers) {
  const std::vector<Anchor> anchors = view.anchors();
  const ClockMap clock(anchors, view.header().clock);
  const std::int64_t offset_ns = anchors.front().monotonic_ns - clock.unix_ns(anchors.front().ticks);
  for (const RecordedMarker& marker : markers) {
    const std::int64_t at_ns = clock.unix_ns(marker.at) + offset_ns;
    const std::optional<StepCounter::Step> step = counter_.on_marker(at_ns, marker.number);
    if (step) begin_step(*step, {marker.at, at_ns, marker.name});
  }
}

void Steps::save_without_steps() {
  const Ticks from = search_.kept_from.load();
  if (from == 0 || queue_.opened.load() != 0) return;
  recorder::problem("steps",
                    "no loop was found: this trace has no steps; set steps.source (nvtx, torch, symbol, collective or "
                    "time) to choose them");
  windows_.open(from, spool::kNoMark, counter_.epoch());
  windows_.close_by_schedule(ticks(), 0);
}

void Steps::close_at_exit(Ticks now) { windows_.close_at_exit(now, is_last_saved_); }

}  // namespace profshim::session
