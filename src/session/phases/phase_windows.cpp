#include "phase_windows.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "phases.h"
#include "profshim/recorder_control.h"

namespace profshim::session {
namespace {

std::int32_t own_tid(const spool::Thread* block) {
  return block != nullptr ? block->tid.load(std::memory_order_relaxed) : static_cast<std::int32_t>(syscall(SYS_gettid));
}

std::string ranges_of(PhaseSource source) {
  switch (source) {
    case PhaseSource::kSymbol:
      return "call of a function";
    case PhaseSource::kPython:
      return "call of a Python function";
    case PhaseSource::kKernel:
      return "kernel";
    case PhaseSource::kThread:
      return "thread";
    default:
      return std::string(to_text(source)) + " range";
  }
}

bool is_recorded(Action action) { return action == Action::kRecord || action == Action::kRecordAndSave; }

}  // namespace

PhaseWindows::PhaseWindows(const PhaseParts& parts, Phases& phases, std::size_t index)
    : parts_(parts),
      phases_(phases),
      spec_(parts.plan.spec.phases[index]),
      id_(static_cast<std::uint32_t>(index + 1)),
      schedule_(schedule_of(parts.plan.spec, spec_)),
      detail_(detail_of(parts.plan.spec, spec_)),
      window_seconds_(spec_.limits.window_seconds.value_or(parts.plan.spec.limits.window_seconds)) {}

void PhaseWindows::range_begins(Ticks at) {
  const spool::Thread* const block = recorder::this_thread();
  const std::int32_t tid = own_tid(block);
  std::int32_t owner = 0;
  if (owner_.compare_exchange_strong(owner, tid, std::memory_order_acq_rel)) {
    owner_block_.store(block);
    depth_.store(1);
    return occurrence_begins(at);
  }
  if (owner == tid) {
    depth_.fetch_add(1);
    return;
  }
  if (others_.fetch_add(1) == 0) {
    recorder::problem(
        "phases", "a phase was in progress on two threads at once: only the occurrence that began first has a window");
  }
}

// A range may end on another thread than it began on.
void PhaseWindows::range_ends(Ticks at) {
  const std::int32_t owner = owner_.load(std::memory_order_acquire);
  if (owner == 0 || owner != own_tid(recorder::this_thread())) {
    int others = others_.load();
    while (others > 0 && !others_.compare_exchange_weak(others, others - 1)) {
    }
    if (others > 0) return;
  }
  if (owner != 0 && depth_.fetch_sub(1) == 1) occurrence_ends(at);
}

void PhaseWindows::occurrence_begins(Ticks at) {
  is_cut_.store(false);
  is_limited_.store(false);
  last_ = Action::kNone;
  const std::int64_t occurrence = occurrences_.fetch_add(1);
  began_ns_.store(monotonic_ns());
  if (!spec_.ticks) return unit_begins(at, occurrence);
  if (schedule_.action_of(ticks_.load()) != Action::kNone) want(true, at);
}

void PhaseWindows::occurrence_ends(Ticks at) {
  close(at, spool::WindowEnd::kSchedule, 0, !spec_.ticks || last_ == Action::kRecordAndSave);
  began_ns_.store(0);
  want(false, at, schedule_.action_of(next_unit()) != Action::kNone);
  owner_.store(0, std::memory_order_release);
}

void PhaseWindows::tick_begins(Ticks at) {
  if (owner_.load(std::memory_order_acquire) != own_tid(recorder::this_thread())) return;
  unit_begins(at, ticks_.fetch_add(1));
  if (spool::Window* const window = window_.load()) std::atomic_ref(window->ticks).fetch_add(1);
}

void PhaseWindows::unit_begins(Ticks at, std::int64_t unit) {
  const Action action = schedule_.action_of(unit);
  const bool recorded = is_recorded(action), is_last_done = last_ == Action::kRecordAndSave;
  if (!recorded || is_last_done) {
    close(at, spool::WindowEnd::kSchedule, 0, true);
    is_limited_.store(false);
  }
  last_ = action;
  if (recorded && !is_open() && !is_limited_.load() && !is_cut_.load()) open(at, unit);
  want(recorded ? is_open() : action == Action::kWarmup, at, schedule_.action_of(unit + 1) != Action::kNone);
}

void PhaseWindows::open(Ticks at, std::int64_t unit) {
  if (parts_.queue.disk_is_full.load(std::memory_order_relaxed)) {
    recorder::lose_window(LostWindow::kDiskFull);
    return;
  }
  if (spec_.limits.total_traces && opened() >= static_cast<std::uint64_t>(*spec_.limits.total_traces)) return;
  if (parts_.recording.has_all_traces()) return parts_.queue.all_opened.store(true);
  recorder::WindowOfPhase of;
  of.phase = id_;
  of.occurrence = static_cast<std::uint32_t>(occurrences_.load() - 1);
  of.step = parts_.steps.seen().any.load() ? parts_.steps.seen().last_number.load() : kNoStepNumber;
  of.first_tick = spec_.ticks ? static_cast<std::uint64_t>(unit) : 0;
  spool::Window* const window = recorder::open_window(at, spool::kNoMark, of);
  if (window == nullptr) return;
  parts_.queue.opened.fetch_add(1, std::memory_order_relaxed);
  opened_.fetch_add(1, std::memory_order_relaxed);
  opened_ns_.store(monotonic_ns());
  committed_before_.store(recorder::events_committed());
  window_.store(window);
}

void PhaseWindows::close(Ticks at, spool::WindowEnd why, StringId limit, bool complete) {
  spool::Window* const window = window_.exchange(nullptr);
  if (window == nullptr) return;
  window->complete = complete ? 1 : 0;
  recorder::close_window(*window, at, window->end_mark, why, limit);
  if (why == spool::WindowEnd::kExit && !complete && !parts_.plan.spec.save_on_exit)
    window->state.store(spool::WindowState::kDropped, std::memory_order_release);
}

void PhaseWindows::want(bool recording, Ticks at, bool is_near) {
  const bool before = wants_.exchange(recording);
  if (before != recording) phases_.update_detail();
  if (recording) {
    if (!before) parts_.recording.want_for_phase(true);
    parts_.recording.arm(is_open() ? at : 0);
  } else if (before) {
    parts_.recording.want_for_phase(false);
    parts_.recording.disarm(at, is_near, is_near);
  }
}

bool PhaseWindows::has_owner_ended() const {
  const spool::Thread* const block = owner_block_.load();
  return block != nullptr && (block->slot.load(std::memory_order_acquire) != spool::ThreadSlot::kLive ||
                              block->tid.load(std::memory_order_relaxed) != owner_.load());
}

void PhaseWindows::check() {
  const std::int64_t began_ns = began_ns_.load(), now_ns = monotonic_ns();
  if (began_ns == 0) return;
  if (has_owner_ended()) {
    if (!is_life()) close(ticks(), spool::WindowEnd::kExit, 0, false);
    return occurrence_ends(ticks());
  }
  const auto seconds_since = [now_ns](std::int64_t then) { return static_cast<double>(now_ns - then) / 1e9; };
  if (spec_.max_seconds > 0 && seconds_since(began_ns) > spec_.max_seconds) {
    is_cut_.store(true);
    return close_by_limit(ticks(), parts_.limits.phase);
  }
  if (!is_open()) return;
  if (seconds_since(opened_ns_.load()) > window_seconds_) close_by_limit(ticks(), parts_.limits.time);
  const auto events = static_cast<double>(recorder::events_committed() - committed_before_.load());
  if (parts_.trace_size.is_beyond(events)) close_by_limit(ticks(), parts_.limits.size);
}

void PhaseWindows::close_by_limit(Ticks end, StringId limit) {
  if (!is_open() && !wants_.load()) return;
  is_limited_.store(true);
  close(end, spool::WindowEnd::kLimit, limit, false);
  want(false, end);
}

void PhaseWindows::close_at_exit(Ticks now) { close(now, spool::WindowEnd::kExit, 0, is_life()); }

std::int64_t PhaseWindows::next_unit() const { return spec_.ticks ? ticks_.load() : occurrences_.load(); }

bool PhaseWindows::is_over() const {
  const bool has_all = spec_.limits.total_traces && opened() >= static_cast<std::uint64_t>(*spec_.limits.total_traces);
  return !is_open() && (schedule_.is_over(next_unit()) || has_all);
}

std::string PhaseWindows::why_no_window() const {
  if (opened() != 0) return {};
  const std::int64_t seen = next_unit();
  if (occurrences_.load() == 0) {
    return "no window of phase \"" + spec_.name + "\" was reached: no " + ranges_of(spec_.ranges_of.source) +
           " matched \"" + spec_.ranges_of.pattern + "\"";
  }
  const auto next = schedule_.next_recorded(0);
  return "no window of phase \"" + spec_.name + "\" was reached: " + std::to_string(seen) + " " + unit() +
         (seen == 1 ? "" : "s") + " seen, first window at " + unit() + " " + (next ? std::to_string(*next) : "?");
}

}  // namespace profshim::session
