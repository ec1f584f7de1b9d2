// Requests of the session to the device thread, which alone talks to CUPTI. other_clients.cpp has those of other
// clients.
#include "profshim/device.h"

#include <atomic>

#include "device_thread.h"
#include "late_begin.h"
#include "other_clients.h"
#include "own_thread.h"
#include "profshim/recorder_control.h"
#include "source.h"

namespace profshim::device {
namespace {

constexpr std::int64_t kArmPatience_ns = 200'000'000;    // cudaProfilerStart waits so long at the most
constexpr std::int64_t kStartPatience_ns = 500'000'000;  // so does the first CUDA call, in all
constexpr std::int64_t kFinishPatience_ns = 15'000'000'000;
constexpr std::int64_t kAbruptPatience_ns = 1'000'000'000;

bool wait_until_on(const Source& source) {
  return wait_for(kArmPatience_ns, [&source] { return is_on_or_never(source); });
}

}  // namespace

void set_budget(std::uint64_t bytes) { shared.budget.store(bytes); }

std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory) {
  if (!spec.activities.cuda) return 0;
  const CaptureOptions options = options_of(spec, memory);
  return (options.buffers + BufferPool::kReserve) * options.buffer_bytes + options.table_bytes;
}

void listen(const StepListener& listener) { set_listener(listener); }

void start(const Spec& spec, void (*ready)()) {
  Phase idle = Phase::kIdle;
  if (!spec.activities.cuda || !shared.phase.compare_exchange_strong(idle, Phase::kStarting)) return;
  shared.on_ready.store(ready);
  shared.external.store(spec.activities.nccl);
  shared.boundaries_wait.store(spec.steps.source == StepSource::kCudaProfilerApi);
  if ((recorder::mode() & recorder::kArmed) != 0) {
    shared.wanted_on.store(true);
    shared.open_since_ns.store(monotonic_ns());
  }
  shared.places_of_starter = id_places_of_this_thread();
  if (start_own_thread(run_device_thread, const_cast<Spec*>(&spec))) return;
  shared.phase.store(Phase::kOver);
  try {
    say_there_is_none("no thread could be started");
  } catch (...) {
    say_there_is_no_memory();
  }
}

void await_start() {
  const auto is_up = [] {
    const Source* const source = live();
    if (source == nullptr) return shared.phase.load(std::memory_order_acquire) != Phase::kStarting;
    return !shared.wanted_on.load(std::memory_order_acquire) || is_on_or_never(*source);
  };
  FirstCall expected = FirstCall::kNotSeen;
  shared.first_call.compare_exchange_strong(expected, FirstCall::kHeld);
  if (is_up()) return;
  std::int64_t deadline = 0;
  const std::int64_t now_ns = monotonic_ns();
  if (shared.start_deadline_ns.compare_exchange_strong(deadline, now_ns + kStartPatience_ns)) {
    deadline = now_ns + kStartPatience_ns;
  }
  if (deadline <= now_ns || !wait_for(deadline - now_ns, is_up)) shared.first_call.store(FirstCall::kNotHeld);
}

bool available() { return live() != nullptr; }

void arm(Ticks window_begin) {
  shared.wanted_off_at.store(kNever, std::memory_order_relaxed);
  if (!shared.wanted_on.exchange(true, std::memory_order_acq_rel) && live() != nullptr) shared.wishes_changed.ring();
  if (window_begin == 0) return;
  Source* const source = live();
  if (source == nullptr) {
    if (shared.phase.load() == Phase::kStarting) shared.open_since_ns.store(monotonic_ns());
    return;
  }
  if (shared.owner.load(std::memory_order_acquire) != Owner::kUs) say_other_client_recorded();
  const std::int64_t now_ns = monotonic_ns();
  if (source->state.load(std::memory_order_acquire) == Capture::State::kOn) {
    shared.window_began_ns.store(now_ns, std::memory_order_release);
    shared.wishes_changed.ring();
    return;
  }
  if (shared.boundaries_wait.load(std::memory_order_relaxed)) {
    const bool in_callback = LaunchCallbacks::on_this_thread();
    if (!(in_callback && shared.callbacks_block.load(std::memory_order_relaxed)) && wait_until_on(*source)) return;
    if (in_callback) shared.callbacks_block.store(true, std::memory_order_relaxed);
  }
  if (is_on_or_never(*source)) return;  // it never comes on, and the trace says why
  say_late_begin();
  shared.late_since_ns.store(now_ns);
  shared.wishes_changed.ring();
}

void disarm(Ticks at, bool stays_on) {
  if (shared.wanted_off_at.load(std::memory_order_relaxed) == kNever)
    shared.wanted_off_at.store(at, std::memory_order_relaxed);
  if (shared.wanted_on.exchange(stays_on, std::memory_order_acq_rel) != stays_on && live() != nullptr)
    shared.wishes_changed.ring();
}

bool settled(Ticks end) {
  Source* const source = live();
  if (source == nullptr || source->settled_until.load(std::memory_order_acquire) >= end) return true;
  if (source->state.load(std::memory_order_acquire) == Capture::State::kFinished) return true;
  Ticks wanted = shared.wanted_settled.load(std::memory_order_relaxed);
  while (wanted < end && !shared.wanted_settled.compare_exchange_weak(wanted, end)) {
  }
  if (wanted < end) shared.wishes_changed.ring();
  return false;
}

bool take_trouble() { return shared.trouble.exchange(false, std::memory_order_relaxed); }

std::int32_t own_thread() { return shared.thread_id.load(std::memory_order_relaxed); }

void finish(bool abrupt) {
  disarm(ticks(), false);
  shared.finish_abruptly.store(abrupt);
  shared.wanted_finish.store(true, std::memory_order_release);
  const std::int64_t patience = abrupt ? kAbruptPatience_ns : kFinishPatience_ns;
  // A thread inside CUPTI's first call must not meet the end of the process.
  wait_for(patience, [] { return shared.phase.load(std::memory_order_acquire) != Phase::kStarting; });
  end_start(Phase::kOver);
  Source* const source = live();
  if (source == nullptr) return;
  if (!abrupt) source->callbacks.stop();
  shared.wishes_changed.ring();
  const bool done = wait_for(patience, [source] { return source->state.load() == Capture::State::kFinished; });
  shared.phase.store(Phase::kOver);
  if (!done) recorder::problem("cupti", "the last device work was not delivered before the process ended");
}

void abandon_in_child() {
  shared.phase.store(Phase::kOver, std::memory_order_relaxed);
  shared.thread_id.store(0, std::memory_order_relaxed);
  call_when_completed(nullptr);
}

void push_operation(std::uint32_t operation) {
  Source* const source = live();
  if (source == nullptr || !shared.external.load(std::memory_order_relaxed)) return;
  if (source->capture.state() != Capture::State::kOn) return;
  source->capture.scope().push_external(cupti::kOurExternalKind, operation);
}

void pop_operation() {
  Source* const source = live();
  if (source == nullptr || !shared.external.load(std::memory_order_relaxed)) return;
  // Also when it has been switched off in between: what was pushed must go. An empty stack answers with an error.
  if (source->capture.state() == Capture::State::kYielded) return;
  source->capture.scope().pop_external(cupti::kOurExternalKind);
}

}  // namespace profshim::device
