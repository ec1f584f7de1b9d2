#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "profshim/recorder_control.h"
#include "session/samplers/system_sampler.h"
#include "session/signals/last_thread.h"
#include "stages.h"
#include "window_limits.h"

namespace profshim::session {
namespace {

// Free chunks to keep ready. More would slow the job: 64 MiB of pages take 30 ms.
constexpr std::uint32_t kFreeWhenIdle = 64;
constexpr std::uint32_t kFreeWhenArmed = 256;  // 260 000 events
constexpr std::uint32_t kTicksAhead = 64;      // a tick takes 2 ms, or more on a busy machine
constexpr std::uint32_t kFreeAtMost = 4096;
constexpr std::int64_t kAnchorEvery_ns = 1'000'000'000;
constexpr std::int64_t kThreadCheckEvery_ns = 200'000'000;

class Collector {
 public:
  explicit Collector(Recording& recording) : r_(recording) {}

  void tick() {
    const bool armed = (recorder::mode() & recorder::kArmed) != 0;
    close_after_failed_allocation(r_);
    limits_.check_window();  // before tend(), which may take long
    const spool::Window* const window = r_.steps.windows().current();
    r_.cpu.tick(window != nullptr ? window->number : WindowCpu::kNone, own_threads(r_));
    tend(armed);
    take_anchor_if_due();
    if (r_.finder != nullptr && live() != nullptr) r_.finder->tick();
    r_.phases.check();
    note_end_of_schedules();
    r_.tick_functions.call();
    take_samples();
    make_time_step();
    exit_if_job_threads_ended();
    if (window_waits() && r_.steps.windows().current() == nullptr) r_.queue.wake.notify_all();
  }

  std::int64_t pause_ns() const {
    const bool busy = (recorder::mode() & recorder::kArmed) != 0 || r_.steps.windows().current() != nullptr;
    const std::int64_t rest = busy ? 2'000'000 : 10'000'000;
    if (r_.plan.spec.steps.source != StepSource::kTime) return rest;
    return std::clamp<std::int64_t>(next_boundary_ns_ - monotonic_ns(), 50'000, rest);
  }

 private:
  void note_end_of_schedules() {
    const bool are_steps_over = r_.queue.steps_over.load() || !r_.plan.records_steps;
    if ((are_steps_over && r_.phases.are_over()) || r_.queue.all_opened.load()) r_.queue.is_over.store(true);
  }

  void take_samples() {
    const bool is_open = has_open_window(r_);
    const std::uint64_t windows = recorder::header().windows.load(std::memory_order_relaxed);
    system_.tick(is_open, windows);
    r_.gpu_sampler.tick(is_open, windows);
  }

  void tend(bool armed) {
    const std::uint32_t pool = recorder::chunks_in_pool();
    // The search for the steps must cost a job little that may never open a window.
    const std::uint32_t least = armed && !r_.steps.only_searches() ? kFreeWhenArmed : kFreeWhenIdle;
    std::uint32_t wanted = armed ? std::clamp(used_last_tick_ * kTicksAhead, least, kFreeAtMost) : least;
    wanted = std::min(wanted, std::max(8u, pool / 2));
    if (r_.queue.is_spool_removed.load(std::memory_order_relaxed)) wanted = 0;
    // The writer holds `gathering` while it collects events: no chunk with events is freed then.
    const std::unique_lock taking_back(r_.queue.gathering, std::try_to_lock);
    const auto keep_all = [] { return Ticks{1}; };
    const recorder::PoolState state =
        taking_back ? recorder::tend_pool([this] { return oldest_needed(r_.steps.search().kept_from); }, wanted)
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
    if (!only_ours_are_left(own_threads(r_))) return;
    pthread_sigmask(SIG_SETMASK, &r_.plan.job_signals, nullptr);
    std::exit(0);
  }

  void make_time_step() {
    // A boundary before the session is live would be lost.
    if (r_.plan.spec.steps.source != StepSource::kTime || live() == nullptr) return;
    const std::int64_t now = monotonic_ns();
    const std::int64_t every = r_.plan.spec.steps.every_ms * 1'000'000;
    if (next_boundary_ns_ == 0) next_boundary_ns_ = now;
    if (now < next_boundary_ns_) return;
    step_boundary(ticks(), std::nullopt, 0);
    next_boundary_ns_ += ((now - next_boundary_ns_) / every + 1) * every;
  }

  Recording& r_;
  WindowLimits limits_{r_};
  SystemSampler system_{r_.plan.spec.system};
  std::uint32_t used_last_tick_ = 0, in_use_before_ = 0;
  std::int64_t last_anchor_ns_ = 0, next_boundary_ns_ = 0, last_thread_check_ns_ = 0;
  std::uint64_t anchors_ = 0;
};

}  // namespace

void* run_collector(void* recording) {
  Recording& r = *static_cast<Recording*>(recording);
  prctl(PR_SET_NAME, "profshim-coll");
  r.life.collector_tid.store(static_cast<pid_t>(syscall(SYS_gettid)));
  Collector collector(r);
  // The kernel takes 13 ms for the first counter of a machine, 10 us for a later one: no step or phase waits for it.
  PerfCounters first;
  if (!r.plan.spec.counters.perf.empty()) first.open(r.plan.spec.counters.perf);
  while (!r.life.is_stopped()) {
    collector.tick();
    end_if_asked(r);
    r.life.wait(collector.pause_ns());
  }
  return nullptr;
}

}  // namespace profshim::session
