#include "step_windows.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace profshim::session {

void StepWindows::open(Ticks begin, std::uint64_t first_mark, std::int64_t epoch) {
  if (!plan_.records_steps) return;
  if (queue_.disk_is_full.load(std::memory_order_relaxed)) {
    recorder::lose_window(LostWindow::kDiskFull);
    return;
  }
  if (recording_.has_all_traces()) {
    queue_.all_opened.store(true, std::memory_order_relaxed);
    return;
  }
  spool::Window* const window = recorder::open_window(begin, first_mark);
  if (window == nullptr) return;
  queue_.opened.fetch_add(1, std::memory_order_relaxed);
  window->epoch =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(epoch, 0, std::numeric_limits<std::uint32_t>::max()));
  current_.store(window);
}

void StepWindows::close_by_schedule(Ticks at, std::uint64_t mark) {
  spool::Window* const window = current_.exchange(nullptr);
  if (window == nullptr) return;
  window->complete = 1;
  recorder::close_window(*window, at, mark, spool::WindowEnd::kSchedule, 0);
}

void StepWindows::close_by_limit(Ticks end, StringId limit) {
  spool::Window* const window = current_.load();
  if (window == nullptr) return;
  const std::uint64_t marks = recorder::header().marks.load(std::memory_order_acquire);
  is_closed_by_limit_.store(true);
  spool::Window* expected = window;
  if (!current_.compare_exchange_strong(expected, nullptr)) {  // closed meanwhile by the step thread
    is_closed_by_limit_.store(false);
    return;
  }
  recorder::close_window(*window, end, window->first_mark == spool::kNoMark ? 0 : marks, spool::WindowEnd::kLimit,
                         limit);
  recording_.want_for_steps(false);
  recording_.disarm(end, false);
  // The step thread may have opened the next window in between.
  if (current_.load() != nullptr) {
    recording_.want_for_steps(true);
    recording_.arm(ticks());
  }
}

void StepWindows::close_at_exit(Ticks now, bool is_last_step_saved) {
  spool::Window* const window = current_.exchange(nullptr);
  if (window == nullptr) return;
  const std::uint64_t marks = recorder::header().marks.load(std::memory_order_acquire);
  const bool whole_run = window->first_mark == spool::kNoMark;
  // Events after the range of the last step belong to no step.
  const Ticks last_step_end = window->last_step_end.load(std::memory_order_relaxed);
  const bool last_step_whole = last_step_end != 0;
  window->complete = whole_run || (last_step_whole && is_last_step_saved) ? 1 : 0;
  const Ticks end = !whole_run && last_step_whole ? last_step_end : now;
  recorder::close_window(*window, end, whole_run ? 0 : marks, spool::WindowEnd::kExit, 0);
  if (!plan_.spec.save_on_exit && window->complete == 0) {
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

Ticks oldest_needed(const std::atomic<Ticks>& kept_from) {
  // Read before the windows: Steps::take_over() opens windows before it clears this.
  const Ticks kept = kept_from.load();
  const spool::Window* const window = oldest_window({spool::WindowState::kOpen, spool::WindowState::kClosed});
  const Ticks begin = window != nullptr ? window->begin : 0;
  return begin == 0 || (kept != 0 && kept < begin) ? kept : begin;
}

bool window_waits() { return oldest_window({spool::WindowState::kClosed}) != nullptr; }

}  // namespace profshim::session
