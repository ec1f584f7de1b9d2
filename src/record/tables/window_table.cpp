#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>

#include "profshim/base/threads/shared_words.h"
#include "profshim/base/threads/take_flag.h"
#include "profshim/recorder_control.h"
#include "record/recorder_state.h"
#include "tables.h"

namespace profshim::recorder {

using spool::SpoolHeader;
using spool::Window;
using spool::WindowState;

namespace {
constinit std::mutex anchor_mutex;
constinit std::atomic_flag opening = ATOMIC_FLAG_INIT;

/// One thread at a time opens a window. A thread does not wait long: the other one may be stopped, or be interrupted by
/// a signal handler that also opens a window.
class OpeningTurn {
 public:
  OpeningTurn() = default;
  ~OpeningTurn() {
    if (has_turn_) opening.clear(std::memory_order_release);
  }
  OpeningTurn(const OpeningTurn&) = delete;
  OpeningTurn& operator=(const OpeningTurn&) = delete;
  bool has_turn() const { return has_turn_; }

 private:
  static constexpr std::int64_t kMostWait_ns = 20'000'000;
  const bool has_turn_ = take_flag(opening, kMostWait_ns);
};

void copy_losses(const SpoolHeader& h, std::uint32_t (&to)[kLosses]) {
  for (std::size_t i = 0; i < kLosses; ++i) to[i] = spool::losses(h, static_cast<Loss>(i));
}
}  // namespace

void free_window_table_locks() {
  new (&anchor_mutex) std::mutex;
  opening.clear();
}

void count_loss(Loss loss, std::uint64_t number) {
  if (state.header != nullptr) spool::counter(*state.header, loss).fetch_add(number, std::memory_order_relaxed);
}

void lose_window(LostWindow why) {
  state.header->windows_lost[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
}

Window* open_window(Ticks begin, std::uint64_t first_mark, const WindowOfPhase& of) {
  const OpeningTurn turn;
  if (!turn.has_turn()) {
    lose_window(LostWindow::kAtOnce);
    return nullptr;
  }
  SpoolHeader& h = *state.header;
  detail::last_boundary.store(begin, std::memory_order_relaxed);
  const std::uint64_t number = h.windows.load(std::memory_order_relaxed);
  Window& w = state.windows[number % spool::kMaxWindows];
  const WindowState previous = w.state.load(std::memory_order_acquire);
  if (previous == WindowState::kOpen || previous == WindowState::kClosed) {
    lose_window(LostWindow::kQueueFull);
    return nullptr;
  }
  w.ended_by.store(spool::WindowEnd::kNone, std::memory_order_relaxed);
  w.number = number;
  w.begin = begin;
  w.end.store(0, std::memory_order_relaxed);
  w.first_mark = first_mark;
  w.end_mark = of.first_tick;
  // A window of steps that were found later begins in the past: its losses count from the begin of the search.
  const bool is_kept =
      of.phase == 0 && begin >= h.search.begin && h.search.state.load(std::memory_order_acquire) == WindowState::kOpen;
  w.dropped_before = is_kept ? h.search.dropped_before : dropped();
  w.dropped_after.store(0, std::memory_order_relaxed);
  w.threadless_before = is_kept ? h.search.threadless_before : spool::threadless_events(h);
  w.threadless_after.store(0, std::memory_order_relaxed);
  copy_losses(h, w.lost_before);
  if (is_kept) std::copy(std::begin(h.search.lost_before), std::end(h.search.lost_before), w.lost_before);
  w.last_step_end.store(0, std::memory_order_relaxed);
  w.limit_reason = 0;
  w.complete = 0;
  w.epoch = 0;
  w.phase = of.phase;
  w.step = of.step;
  w.occurrence = of.occurrence;
  w.ticks = 0;
  w.file.store(0, std::memory_order_relaxed);
  w.state.store(WindowState::kOpen, std::memory_order_release);
  h.windows.store(number + 1, std::memory_order_release);
  detail::windows_opened.store(number + 1, std::memory_order_release);
  return &w;
}

void close_window(Window& w, Ticks end, std::uint64_t end_mark, spool::WindowEnd why, StringId limit) {
  spool::WindowEnd open = spool::WindowEnd::kNone;
  if (!w.ended_by.compare_exchange_strong(open, why, std::memory_order_acq_rel)) return;
  w.end_mark = end_mark;
  w.limit_reason = limit;
  w.dropped_after.store(dropped(), std::memory_order_relaxed);
  w.threadless_after.store(spool::threadless_events(*state.header), std::memory_order_relaxed);
  copy_losses(*state.header, w.lost_after);
  w.end.store(end, std::memory_order_relaxed);
  w.state.store(WindowState::kClosed, std::memory_order_release);
}

void keep_for_search(Ticks since) {
  SpoolHeader& h = *state.header;
  Window& w = h.search;
  w.state.store(WindowState::kFree, std::memory_order_release);
  if (since == 0) return;
  w.begin = since;
  w.first_mark = spool::kNoMark;
  w.dropped_before = dropped();
  w.threadless_before = spool::threadless_events(h);
  copy_losses(h, w.lost_before);
  w.step = kNoStepNumber;
  w.state.store(WindowState::kOpen, std::memory_order_release);
}

std::uint64_t add_mark(const spool::StepMark& mark, const PerfReading& counters) {
  SpoolHeader& h = *state.header;
  detail::last_boundary.store(mark.ticks, std::memory_order_relaxed);
  const std::uint64_t number = h.marks.load(std::memory_order_relaxed);
  if (h.counter_count > 0) {
    // Release fence: a reader that sees a new word also sees h.marks >= `number`, and drops these counters.
    std::atomic_thread_fence(std::memory_order_release);
    store_words(state.counters[number % h.counter_count], counters);
  }
  store_words(state.marks[number % spool::kMaxMarks], mark);
  h.marks.store(number + 1, std::memory_order_release);
  return number;
}

void add_anchor(const Anchor& anchor) {
  const std::lock_guard one_at_a_time(anchor_mutex);  // collector and writer thread
  SpoolHeader& h = *state.header;
  const std::uint64_t number = h.anchors.load(std::memory_order_relaxed);
  // Release fence: a reader that sees a new word also sees h.anchors >= `number`, and drops this anchor.
  std::atomic_thread_fence(std::memory_order_release);
  store_words(state.anchors[spool::anchor_place(number)], anchor);
  h.anchors.store(number + 1, std::memory_order_release);
}

}  // namespace profshim::recorder
