#include "window_control.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "profshim/device.h"
#include "profshim/output/retention.h"
#include "session/steps/find/step_finder.h"

namespace profshim::session {

using recorder::kArmed;

namespace {

void tell_armed(const State& s, bool armed) {
  for (const auto& slot : s.when_arming) {
    if (auto* const function = slot.load()) function(armed);
  }
}

}  // namespace

void arm_others(State& s, Ticks window_begin) {
  device::arm(window_begin);
  tell_armed(s, true);
}

bool only_searches(const State& s) {
  return s.kept_from.load() != 0 && s.current.load() == nullptr && s.phases_wanting.load() == 0;
}

bool has_all_traces(const State& s) {
  return !output::removes_traces(s.spec) &&
         s.windows_opened.load(std::memory_order_relaxed) >= static_cast<std::uint64_t>(s.spec.limits.total_traces);
}

namespace {

bool is_wanted(const State& s) { return s.steps_want.load() || s.phases_wanting.load() > 0; }

device::NextWindow next_window(const State& s, bool is_near) {
  if (is_near) return device::NextWindow::kNear;
  const bool all_opened = s.recording_over.load() || has_all_traces(s);
  const bool of_steps = s.records_steps && !s.schedule_over.load() && s.spec.steps.source != StepSource::kNone;
  const bool may_come = !all_opened && (of_steps || !s.phase_windows.empty());
  return may_come ? device::NextWindow::kLater : device::NextWindow::kNone;
}

}  // namespace

void disarm(State& s, Ticks at, bool is_near, bool often) {
  if (is_wanted(s)) return;
  recorder::set_mode(0, kArmed);
  device::disarm(at, next_window(s, is_near));
  if (!often) tell_armed(s, false);
  // Another thread may have wanted the recording in between.
  if (!is_wanted(s)) return;
  recorder::set_mode(kArmed, 0);
  arm_others(s, ticks());
}

// Switching CUPTI on takes milliseconds to seconds, so it begins when a window is near. cudaProfilerStart cannot be
// predicted: it waits for CUPTI.
bool window_is_near(const State& s, std::int64_t step, std::int64_t step_ns) {
  constexpr std::int64_t kNear_ns = 500'000'000, kFewSteps = 20;
  const StepSource source = s.spec.steps.source;
  if (source == StepSource::kNone || source == StepSource::kCudaProfilerApi || s.recording_over.load()) return false;
  const std::optional<std::int64_t> next = s.spec.schedule.next_recorded(step + 1);
  if (!next) return false;
  if (s.window_was_near) return true;  // a long step must not switch CUPTI off again
  const std::int64_t steps = *next - step;
  return steps == 1 || steps <= (step_ns > 0 ? kNear_ns / step_ns : kFewSteps);
}

void open_window(State& s, Ticks begin, std::uint64_t first_mark) {
  if (!s.records_steps) return;
  if (s.disk_is_full.load(std::memory_order_relaxed)) {
    recorder::lose_window(LostWindow::kDiskFull);
    return;
  }
  if (has_all_traces(s)) {
    s.recording_over.store(true, std::memory_order_relaxed);
    return;
  }
  spool::Window* const window = recorder::open_window(begin, first_mark);
  if (window == nullptr) return;
  s.windows_opened.fetch_add(1, std::memory_order_relaxed);
  window->epoch = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(s.counter.epoch(), 0, std::numeric_limits<std::uint32_t>::max()));
  s.current.store(window);
}

void close_by_schedule(State& s, Ticks at, std::uint64_t mark) {
  spool::Window* const window = s.current.exchange(nullptr);
  if (window == nullptr) return;
  window->complete = 1;
  recorder::close_window(*window, at, mark, spool::WindowEnd::kSchedule, 0);
}

void close_by_limit(State& s, Ticks end, StringId limit) {
  spool::Window* const window = s.current.load();
  if (window == nullptr) return;
  const std::uint64_t marks = recorder::header().marks.load(std::memory_order_acquire);
  s.closed_by_limit.store(true);
  spool::Window* expected = window;
  if (!s.current.compare_exchange_strong(expected, nullptr)) {  // closed meanwhile by the step thread
    s.closed_by_limit.store(false);
    return;
  }
  recorder::close_window(*window, end, window->first_mark == spool::kNoMark ? 0 : marks, spool::WindowEnd::kLimit,
                         limit);
  s.steps_want.store(false);
  disarm(s, end, false);
  // The step thread may have opened the next window in between.
  if (s.current.load() != nullptr) {
    s.steps_want.store(true);
    recorder::set_mode(kArmed, 0);
    arm_others(s, ticks());
  }
}

void close_at_exit(State& s, Ticks now) {
  if (s.finder != nullptr) s.finder->finish();
  take_over(s, now);
  for (const auto& phase : s.phase_windows) {
    if (phase != nullptr) phase->close_at_exit(now);
  }
  spool::Window* const window = s.current.exchange(nullptr);
  if (window == nullptr) return;
  const std::uint64_t marks = recorder::header().marks.load(std::memory_order_acquire);
  const bool whole_run = window->first_mark == spool::kNoMark;
  // Events after the range of the last step belong to no step.
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

Ticks oldest_needed(const State& s) {
  // Read before the windows: take_over() opens windows before it clears this.
  const Ticks kept_from = s.kept_from.load();
  const spool::Window* const window = oldest_window({spool::WindowState::kOpen, spool::WindowState::kClosed});
  const Ticks begin = window != nullptr ? window->begin : 0;
  return begin == 0 || (kept_from != 0 && kept_from < begin) ? kept_from : begin;
}

bool window_waits() { return oldest_window({spool::WindowState::kClosed}) != nullptr; }

}  // namespace profshim::session
