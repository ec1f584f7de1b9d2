// From markers to windows. Everything here but is_step_marker() runs on the step thread; nothing locks or allocates.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>

#include "profshim/device.h"
#include "state.h"

namespace profshim::session {

using recorder::kArmed;

namespace detail {
constinit std::uint64_t marker_first_bytes[4] = {};
}

CounterRules State::counter_rules(const Spec& spec) {
  CounterRules rules;
  rules.every = spec.steps.every;
  rules.min_interval_ns = spec.steps.min_interval_ms * 1'000'000;
  rules.absolute = spec.steps.absolute;
  rules.first = spec.steps.first;
  rules.per_epoch = spec.schedule_per_epoch;
  return rules;
}

namespace {

// The one thread whose boundaries count: the first that makes one.
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

std::optional<std::int64_t> integer_at(std::string_view text, std::size_t at) {
  std::int64_t value = 0;
  std::size_t i = at;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    if (value > (std::int64_t{1} << 58)) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return i == at ? std::nullopt : std::optional(value);
}

// The integer where the pattern's fixed part ends ("step 3/100" with "step *" is 3), else the last one of the text.
std::optional<std::int64_t> number_in(std::string_view text, std::string_view prefix) {
  if (const auto value = integer_at(text, prefix.size()); value && !prefix.empty()) return value;
  std::size_t end = text.size();
  while (end > 0 && (text[end - 1] < '0' || text[end - 1] > '9')) --end;
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return begin == end ? std::nullopt : integer_at(text, begin);
}

// Per thread, so that what others launch meanwhile does not cut a run of matches in two.
thread_local constinit bool last_kernel_matched __attribute__((tls_model("initial-exec"))) = false;

void close_by_schedule(State& s, Ticks at, std::uint64_t mark) {
  spool::Window* const window = s.current.exchange(nullptr);
  if (window == nullptr) return;
  window->complete = 1;
  recorder::close_window(*window, at, mark, spool::WindowEnd::kSchedule, 0);
}

}  // namespace

void arm_others(State& s, Ticks window_begin) {
  device::arm(window_begin);
  if (auto* const function = s.when_arming.load()) function(true);
}

void disarm_others(State& s, Ticks at, bool is_near) {
  device::disarm(at, is_near);
  if (auto* const function = s.when_arming.load()) function(false);
}

// CUPTI takes some milliseconds to come on, seconds at worst, and nobody waits for it at the begin of a window. So it
// is switched on when a window is near: by the pace of the steps, by their number while the pace is not known, or at
// the step before it. A range of the profiler API begins when it likes; its begin waits.
bool window_is_near(const State& s, std::int64_t step, std::int64_t step_ns) {
  constexpr std::int64_t kNear_ns = 500'000'000, kFewSteps = 20;
  const StepSource source = s.spec.steps.source;
  if (source == StepSource::kNone || source == StepSource::kCudaProfilerApi || s.recording_over.load()) return false;
  const std::optional<std::int64_t> next = s.spec.schedule.next_recorded(step + 1);
  if (!next) return false;
  const std::int64_t steps = *next - step;
  return steps == 1 || steps <= (step_ns > 0 ? kNear_ns / step_ns : kFewSteps);
}

void open_window(State& s, Ticks begin, std::uint64_t first_mark) {
  if (s.disk_is_full.load(std::memory_order_relaxed)) {
    s.windows_refused.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (s.windows_opened.load(std::memory_order_relaxed) >= static_cast<std::uint64_t>(s.spec.limits.total_traces)) {
    s.recording_over.store(true, std::memory_order_relaxed);
    return;
  }
  spool::Window* const window = recorder::open_window(begin, first_mark);
  if (window == nullptr) {
    recorder::problem("session", "windows are lost: 1024 of them wait to be written");
    return;
  }
  s.windows_opened.fetch_add(1, std::memory_order_relaxed);
  window->epoch = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(s.counter.epoch(), 0, std::numeric_limits<std::uint32_t>::max()));
  s.current.store(window);
}

namespace {

// The marks are a ring: one that a window without a file needs must not be overwritten.
bool room_for_mark(const State& s) {
  const std::uint64_t made = recorder::header().marks.load(std::memory_order_relaxed);
  return made - s.marks_published.load(std::memory_order_acquire) < spool::kMaxMarks;
}

}  // namespace

// Numbers that the job gives to its steps may go back, and an epoch begins its schedule anew.
static bool is_schedule_over(const Spec& spec, std::int64_t step) {
  return !spec.steps.absolute && !spec.schedule_per_epoch && spec.schedule.over(step);
}

void step_boundary(Ticks at, std::optional<std::int64_t> number, StringId marker) {
  State* const s = live();
  if (s == nullptr || !on_step_thread(*s)) return;
  const Ticks entered = ticks();
  const std::int64_t now_ns = monotonic_ns();
  const std::optional<StepCounter::Step> step = s->counter.on_marker(now_ns, number);
  if (!step) return;
  spool::SpoolHeader& header = recorder::header();
  header.steps_seen.store(static_cast<std::uint64_t>(step->index) + 1, std::memory_order_relaxed);
  if (header.step_marker == 0) header.step_marker = marker;
  s->steps.note(*step);
  if (s->closed_by_limit.exchange(false)) s->automaton.closed_by_limit();

  const Transition transition = s->automaton.on_step(step->schedule);
  s->last_action_saves = s->spec.schedule.action_of(step->schedule) == Action::kRecordAndSave;
  if (spool::Window* const window = s->current.load()) window->last_step_end.store(0, std::memory_order_relaxed);
  if (!room_for_mark(*s)) {
    close_by_limit(*s, at, s->limit_marks);
    if (transition.open) recorder::problem("session", "windows are lost: too many steps wait to be written");
    recorder::set_mode(0, kArmed);
    s->closed_by_limit.store(true);
    return;
  }
  std::uint64_t mark = 0;
  if (transition.open || transition.close || s->automaton.open())
    mark = recorder::add_mark({at, step->index, step->number});
  if (transition.close) close_by_schedule(*s, at, mark);
  if (transition.open) open_window(*s, at, mark);
  if (!transition.armed && is_schedule_over(s->spec, step->schedule)) s->schedule_over.store(true);
  const bool arm = transition.armed && !s->recording_over.load(std::memory_order_relaxed) &&
                   (!s->automaton.open() || s->current.load() != nullptr);
  recorder::set_mode(arm ? kArmed : 0u, arm ? 0u : kArmed);
  if (arm) {
    arm_others(*s, s->current.load() != nullptr ? at : 0);
  } else {
    // The first step is no measure: it may make contexts and compile.
    const std::int64_t step_ns = step->index >= 2 ? now_ns - s->last_boundary_ns : 0;
    disarm_others(*s, at, window_is_near(*s, step->schedule, step_ns));
  }
  s->last_boundary_ns = now_ns;
  s->stall_ticks.fetch_add(ticks() - entered, std::memory_order_relaxed);
}

// The window that the range ends is closed here, not at the next Start, which may never come.
void on_profiler_range(bool begins, Ticks at) {
  State* const s = live();
  if (s == nullptr || s->spec.steps.source != StepSource::kCudaProfilerApi || !on_step_thread(*s)) return;
  if (s->in_profiler_range == begins) return;
  s->in_profiler_range = begins;
  if (begins) {
    const std::uint64_t before = recorder::header().steps_seen.load(std::memory_order_relaxed);
    step_boundary(at, std::nullopt, recorder::intern_literal("cudaProfilerStart"));
    // steps.min_interval_ms: not counted, so that its Stop is not either.
    s->in_profiler_range = recorder::header().steps_seen.load(std::memory_order_relaxed) != before;
    return;
  }
  step_marker_ended(at);
  if (s->last_action_saves && s->current.load() != nullptr) {
    close_by_schedule(*s, at, recorder::header().marks.load(std::memory_order_acquire));
    s->automaton.closed_by_limit();
    recorder::set_mode(0, kArmed);
    disarm_others(*s, at, false);
  }
}

void on_kernel_launch(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr || s->kernel_names == nullptr) return;
  const bool follows_a_match = last_kernel_matched;
  last_kernel_matched = s->kernel_names->matches(name);
  if (last_kernel_matched && !follows_a_match) step_boundary(at, std::nullopt, recorder::intern(name));
}

void on_graph_launch() {
  State* const s = live();
  if (s == nullptr || s->kernel_names == nullptr) return;
  last_kernel_matched = false;
  if (s->graph_launched.exchange(true, std::memory_order_relaxed)) return;
  recorder::problem("steps", "the kernels of CUDA graphs make no steps: CUPTI does not name them at the launch");
}

void step_marker_ended(Ticks at) {
  State* const s = live();
  if (s == nullptr || !on_step_thread(*s)) return;
  if (spool::Window* const window = s->current.load()) window->last_step_end.store(at, std::memory_order_relaxed);
}

void epoch_boundary(std::string_view text) {
  State* const s = live();
  if (s != nullptr && on_step_thread(*s)) s->counter.on_epoch(number_in(text, s->epoch_prefix));
}

void close_by_limit(State& s, Ticks end, StringId limit) {
  spool::Window* const window = s.current.load();
  if (window == nullptr) return;
  const std::uint64_t marks = recorder::header().marks.load(std::memory_order_acquire);
  s.closed_by_limit.store(true);
  spool::Window* expected = window;
  if (!s.current.compare_exchange_strong(expected, nullptr)) {  // the schedule was faster
    s.closed_by_limit.store(false);
    return;
  }
  recorder::close_window(*window, end, window->first_mark == spool::kNoMark ? 0 : marks, spool::WindowEnd::kLimit,
                         limit);
  recorder::set_mode(0, kArmed);
  disarm_others(s, end, false);
  // The step thread may have opened the next window in between.
  if (s.current.load() != nullptr) {
    recorder::set_mode(kArmed, 0);
    arm_others(s, ticks());
  }
}

void close_at_exit(State& s, Ticks now) {
  spool::Window* const window = s.current.exchange(nullptr);
  if (window == nullptr) return;
  const std::uint64_t marks = recorder::header().marks.load(std::memory_order_acquire);
  const bool whole_run = window->first_mark == spool::kNoMark;
  // The marker range of the last step has ended: what came after it is no step any more.
  const Ticks last_step_end = window->last_step_end.load(std::memory_order_relaxed);
  const bool last_step_whole = last_step_end != 0;
  window->complete = whole_run || (last_step_whole && s.last_action_saves) ? 1 : 0;
  const Ticks end = !whole_run && last_step_whole ? last_step_end : now;
  recorder::close_window(*window, end, whole_run ? 0 : marks, spool::WindowEnd::kExit, 0);
  if (!s.spec.save_on_exit && window->complete == 0) {
    window->state.store(spool::WindowState::kDropped, std::memory_order_release);
  }
}

namespace {

// The oldest window in one of these states, or null.
const spool::Window* oldest_window(std::initializer_list<spool::WindowState> states) {
  const spool::SpoolHeader& h = recorder::header();
  const auto* const windows = reinterpret_cast<const spool::Window*>(recorder::data() + h.windows_at);
  const std::uint64_t opened = h.windows.load(std::memory_order_acquire);
  for (std::uint64_t n = opened > spool::kMaxWindows ? opened - spool::kMaxWindows : 0; n < opened; ++n) {
    const spool::Window& w = windows[n % spool::kMaxWindows];
    const spool::WindowState state = w.state.load(std::memory_order_acquire);
    if (std::find(states.begin(), states.end(), state) != states.end()) return &w;
  }
  return nullptr;
}

}  // namespace

Ticks oldest_needed() {
  const spool::Window* const window = oldest_window({spool::WindowState::kOpen, spool::WindowState::kClosed});
  return window != nullptr ? window->begin : 0;
}

bool window_waits() { return oldest_window({spool::WindowState::kClosed}) != nullptr; }

// ---- markers
// ---------------------------------------------------------------------------------------------------------

namespace {

bool matches(const StepPattern& pattern, std::string_view text) {
  return text.size() >= pattern.prefix.size() &&
         std::memcmp(text.data(), pattern.prefix.data(), pattern.prefix.size()) == 0 &&
         glob_match(pattern.pattern, text);
}

}  // namespace

namespace {

/// So many of a weak pattern come without anything better before it is taken.
constexpr std::uint32_t kPatience = 8;

enum class Range : std::uint8_t { kNvtx, kTorchBegins, kTorchEnded };

/// An iteration may step several optimizers, one after the other. Their kinds tell them apart: the first one makes the
/// steps, until it has not come for so long that another one has taken its place.
bool is_the_optimizer(State& s, std::string_view name) {
  const std::uint64_t own = std::hash<std::string_view>{}(name) | 1;
  std::uint64_t chosen = 0;
  if (s.optimizer.compare_exchange_strong(chosen, own) || chosen == own) {
    s.other_optimizers = 0;
    return true;
  }
  if (s.other_optimizers.fetch_add(1) + 1 < kPatience) return false;
  s.optimizer = own;
  s.other_optimizers = 0;
  return true;
}

/// The pattern that `text` matches, if it is the one whose matches are steps; locks the choice of "auto" at the first.
const StepPattern* matched_pattern(State& s, std::string_view text, Range range) {
  const MarkerKind kind = range == Range::kNvtx ? MarkerKind::kNvtx : MarkerKind::kTorch;
  if (s.spec.steps.source == StepSource::kNvtx && kind != MarkerKind::kNvtx) return nullptr;
  int locked = s.locked_pattern.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < s.patterns.size(); ++i) {
    const StepPattern& pattern = s.patterns[i];
    const int mine = static_cast<int>(i);
    const bool better = locked >= 0 && s.patterns[static_cast<std::size_t>(locked)].is_weak && !pattern.is_weak;
    if ((locked >= 0 && mine != locked && !better) || (pattern.torch_only && range == Range::kNvtx)) continue;
    if (!matches(pattern, text)) continue;
    if (pattern.is_weak && range == Range::kTorchEnded) return nullptr;  // counted when it began
    if (mine == locked) return s.marker_kind.load(std::memory_order_relaxed) == kind ? &pattern : nullptr;
    if (pattern.is_weak && s.weak_matches.fetch_add(1, std::memory_order_relaxed) + 1 < kPatience) return nullptr;
    if (better) recorder::header().step_marker = 0;  // what the steps are made of is said anew
    const bool mine_now = s.locked_pattern.compare_exchange_strong(locked, mine) || locked == mine;
    if (mine_now) s.marker_kind.store(kind, std::memory_order_relaxed);
    return mine_now ? &pattern : nullptr;
  }
  return nullptr;
}

}  // namespace

bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number) {
  State* const s = live();
  const StepPattern* const pattern = s == nullptr ? nullptr : matched_pattern(*s, text, Range::kNvtx);
  if (pattern == nullptr) return false;
  number = number_in(text, pattern->prefix);
  return true;
}

void torch_range_begins(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr) return;
  if (is_epoch_marker(name)) epoch_boundary(name);
  const StepPattern* const pattern = matched_pattern(*s, name, Range::kTorchBegins);
  if (pattern == nullptr || pattern->at_end || s->spec.steps.edge_end) return;
  step_boundary(at, number_in(name, pattern->prefix), recorder::intern(name));
}

void torch_range_ended(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr) return;
  const StepPattern* const pattern = matched_pattern(*s, name, Range::kTorchEnded);
  if (pattern == nullptr) return;
  if (!pattern->at_end && !s->spec.steps.edge_end) return step_marker_ended(at);
  if (pattern->at_end && !is_the_optimizer(*s, name)) return;
  step_boundary(at, pattern->at_end ? std::nullopt : number_in(name, pattern->prefix), recorder::intern(name));
}

bool is_epoch_marker(std::string_view text) {
  State* const s = live();
  return s != nullptr && !s->spec.steps.epoch.empty() && glob_match(s->spec.steps.epoch, text);
}

bool is_step_hook(HookId hook) {
  State* const s = live();
  return s != nullptr && s->spec.steps.source == StepSource::kCollective &&
         glob_match(s->spec.steps.pattern, hook_name(hook));
}

}  // namespace profshim::session
