// The collector thread frees chunks, checks the limits, takes clock anchors, and makes the steps of source "time".
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "last_thread.h"
#include "session/steps/find/step_finder.h"
#include "session/steps/window_control.h"
#include "session/system/system_sampler.h"
#include "state.h"
#include "window_limits.h"

namespace profshim::session {
namespace {

// Free chunks to keep ready. More would slow the job: 64 MiB of pages take 30 ms.
constexpr std::uint32_t kFreeWhenIdle = 64;
constexpr std::uint32_t kFreeWhenArmed = 256;  // 260 000 events
constexpr std::uint32_t kTicksAhead = 64;      // a tick takes 2 ms, or more on a busy machine
constexpr std::uint32_t kFreeAtMost = 4096;
constexpr double kBytesPerEvent = 150;
constexpr double kBytesPerFrame = 60;
constexpr double kBytesOfInputs = 150;
constexpr std::int64_t kAnchorEvery_ns = 1'000'000'000;
constexpr std::int64_t kThreadCheckEvery_ns = 200'000'000;

class Collector {
 public:
  explicit Collector(State& s) : s_(s) {}

  void tick() {
    const bool armed = (recorder::mode() & recorder::kArmed) != 0;
    close_after_failed_allocation(s_);
    limits_.check_window();  // before tend(), which may take long
    const spool::Window* const window = s_.current.load();
    s_.cpu.tick(window != nullptr ? window->number : WindowCpu::kNone, own_threads(s_));
    tend(armed);
    take_anchor_if_due();
    if (s_.finder != nullptr && live() != nullptr) s_.finder->tick();
    for (const auto& phase : s_.phase_windows) {
      if (phase != nullptr) phase->check();
    }
    for (const auto& slot : s_.every_tick) {
      if (void (*const function)() = slot.load()) function();
    }
    take_samples();
    make_time_step();
    exit_if_job_threads_ended();
    std::lock_guard lock(s_.mutex);
    if (window_waits() && s_.current.load() == nullptr) s_.wake.notify_all();
  }

  std::int64_t pause_ns() const {
    const bool busy = (recorder::mode() & recorder::kArmed) != 0 || s_.current.load() != nullptr;
    const std::int64_t rest = busy ? 2'000'000 : 10'000'000;
    if (s_.spec.steps.source != StepSource::kTime) return rest;
    return std::clamp<std::int64_t>(next_boundary_ns_ - monotonic_ns(), 50'000, rest);
  }

 private:
  void take_samples() {
    const bool is_open = has_open_window(s_);
    const std::uint64_t windows = recorder::header().windows.load(std::memory_order_relaxed);
    system_.tick(is_open, windows);
    s_.gpu_sampler.tick(is_open, windows);
  }

  void tend(bool armed) {
    const std::uint32_t pool = recorder::chunks_in_pool();
    // The search for the steps must cost a job little that may never open a window.
    const std::uint32_t least = armed && !only_searches(s_) ? kFreeWhenArmed : kFreeWhenIdle;
    std::uint32_t wanted = armed ? std::clamp(used_last_tick_ * kTicksAhead, least, kFreeAtMost) : least;
    wanted = std::min(wanted, std::max(8u, pool / 2));
    if (s_.spool_removed.load(std::memory_order_relaxed)) wanted = 0;
    // The writer holds `gathering` while it collects events: no chunk with events is freed then.
    const std::unique_lock taking_back(s_.gathering, std::try_to_lock);
    const auto keep_all = [] { return Ticks{1}; };
    const recorder::PoolState state = taking_back ? recorder::tend_pool([this] { return oldest_needed(s_); }, wanted)
                                                  : recorder::tend_pool(keep_all, wanted);
    const std::uint32_t in_use = pool - state.free - state.unused;
    used_last_tick_ = in_use > in_use_before_ ? in_use - in_use_before_ : 0;
    in_use_before_ = in_use;
    limits_.check_pool(state, taking_back.owns_lock());
  }

  void take_anchor_if_due() {
    // The first anchors are close together: a short run needs a clock rate, too.
    const std::int64_t now = monotonic_ns();
    const std::int64_t every =
        std::min(kAnchorEvery_ns, std::int64_t{10'000'000} << std::min<std::uint64_t>(anchors_, 10));
    if (now - last_anchor_ns_ < every) return;
    recorder::add_anchor(take_anchor());
    ++anchors_;
    last_anchor_ns_ = now;
  }

  // The C library, too, calls exit(0) when the last thread ends.
  void exit_if_job_threads_ended() {
    const std::int64_t now = monotonic_ns();
    if (now - last_thread_check_ns_ < kThreadCheckEvery_ns) return;
    last_thread_check_ns_ = now;
    if (!only_ours_are_left(own_threads(s_))) return;
    pthread_sigmask(SIG_SETMASK, &s_.job_signals, nullptr);
    std::exit(0);
  }

  void make_time_step() {
    // A boundary before the session is live would be lost.
    if (s_.spec.steps.source != StepSource::kTime || live() == nullptr) return;
    const std::int64_t now = monotonic_ns();
    const std::int64_t every = s_.spec.steps.every_ms * 1'000'000;
    if (next_boundary_ns_ == 0) next_boundary_ns_ = now;
    if (now < next_boundary_ns_) return;
    step_boundary(ticks(), std::nullopt, 0);
    next_boundary_ns_ += ((now - next_boundary_ns_) / every + 1) * every;
  }

  State& s_;
  WindowLimits limits_{s_};
  SystemSampler system_{s_.spec.system};
  std::uint32_t used_last_tick_ = 0, in_use_before_ = 0;
  std::int64_t last_anchor_ns_ = 0, next_boundary_ns_ = 0, last_thread_check_ns_ = 0;
  std::uint64_t anchors_ = 0;
};

}  // namespace

bool has_open_window(const State& s) {
  if (s.current.load() != nullptr) return true;
  return std::any_of(s.phase_windows.begin(), s.phase_windows.end(),
                     [](const auto& phase) { return phase != nullptr && phase->is_open(); });
}

double State::guessed_bytes_per_event(const Spec& spec) {
  const bool stacks = spec.with_stack || spec.native_stack;
  const double frames = stacks ? static_cast<double>(spec.stack_depth) : 0;
  return kBytesPerEvent + (spec.record_shapes ? kBytesOfInputs : 0) + frames * kBytesPerFrame;
}

void* run_collector(void* argument) {
  State& s = *static_cast<State*>(argument);
  prctl(PR_SET_NAME, "profshim-coll");
  s.collector_tid.store(static_cast<pid_t>(syscall(SYS_gettid)));
  Collector collector(s);
  // The kernel takes 13 ms for the first counter of a machine, 10 us for a later one: no step or phase waits for it.
  PerfCounters first;
  if (!s.spec.counters.perf.empty()) first.open(s.spec.counters.perf);
  std::unique_lock lock(s.mutex);
  while (!s.stop) {
    lock.unlock();
    collector.tick();
    end_if_asked(s);
    lock.lock();
    if (!s.stop) s.progress.wait_for(lock, collector.pause_ns(), [&s] { return s.stop || s.end_asked.load(); });
  }
  return nullptr;
}

}  // namespace profshim::session
