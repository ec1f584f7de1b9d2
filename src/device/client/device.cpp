#include "profshim/device.h"

#include <algorithm>
#include <atomic>

#include "cupti_client.h"
#include "device_thread.h"
#include "other_clients.h"
#include "profshim/recorder_control.h"

namespace profshim::device {
namespace {

constexpr std::int64_t kArmTimeout_ns = 200'000'000;           // per cudaProfilerStart
constexpr std::int64_t kStartTimeout_ns = 500'000'000;         // for all await_start() together
constexpr std::int64_t kMostOnBusyMachine_ns = 2'000'000'000;  // while the device thread waits for a CPU
constexpr std::int64_t kLookEvery_ns = 10'000'000;             // while await_start() waits
constexpr std::int64_t kBeginTimeout_ns = 10'000'000'000;      // until CUPTI is ready, after the begin of a window
constexpr std::int64_t kFinishTimeout_ns = 15'000'000'000;
constexpr std::int64_t kAbruptTimeout_ns = 1'000'000'000;

bool wait_until_on(const CuptiClient& client) {
  return wait_for(kArmTimeout_ns, [&client] { return is_on_or_never(client); });
}

/// Stores `now` if no thread has stored a value before. Returns the stored one.
std::int64_t first_value(std::atomic<std::int64_t>& stored, std::int64_t now) {
  std::int64_t seen = LateBeginState::kNotYet;
  return stored.compare_exchange_strong(seen, now) ? now : seen;
}

bool uses_cupti(const Spec& spec) { return spec.activities.cuda && spec.device_timing != DeviceTiming::kHost; }

}  // namespace

void set_memory_budget(std::uint64_t bytes) { shared.memory_budget.store(bytes); }

std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory) {
  if (!uses_cupti(spec)) return 0;
  const CaptureOptions options = options_of(spec, memory);
  return (options.buffers + BufferPool::kReserve) * options.buffer_bytes + options.table_bytes;
}

void start(const Spec& spec, void (*ready)()) {
  Phase idle = Phase::kIdle;
  if (spec.activities.cuda && !uses_cupti(spec)) return recorder::set_mode(recorder::kCudaCalls, 0);
  if (!uses_cupti(spec) || !shared.phase.compare_exchange_strong(idle, Phase::kStarting)) return;
  shared.on_ready.store(ready);
  shared.external.store(spec.activities.nccl);
  shared.boundaries_wait.store(spec.steps.source == StepSource::kCudaProfilerApi);
  if ((recorder::mode() & recorder::kArmed) != 0) {
    shared.request.on.store(true);
    shared.begins.open_since_ns.store(monotonic_ns());
  }
  shared.places_of_starter = id_places_of_this_thread();
  if (start_device_thread(spec)) return;
  end_start(Phase::kOver);
  try {
    report_no_activity("profshim's GPU thread could not be started (ulimit -u may be too low)");
  } catch (...) {
    report_no_memory();
  }
}

void await_start() {
  const auto is_up = [] {
    const CuptiClient* const client = running_client();
    if (client == nullptr) return shared.phase.load(std::memory_order_acquire) != Phase::kStarting;
    return !shared.request.on.load(std::memory_order_acquire) || is_on_or_never(*client);
  };
  FirstCall expected = FirstCall::kNotSeen;
  shared.begins.first_call.compare_exchange_strong(expected, FirstCall::kHeld);
  if (is_up()) return;
  const auto waited_ns = [] { return shared.begins.device_thread_waits.look_ns(device_thread_id()); };
  const std::int64_t waited_before_ns = first_value(shared.begins.waited_before_ns, waited_ns());
  const std::int64_t began_ns = first_value(shared.begins.await_began_ns, monotonic_ns());
  for (;;) {
    // On a busy machine the device thread needs longer.
    const std::int64_t most_ns = std::min(kStartTimeout_ns + waited_ns() - waited_before_ns, kMostOnBusyMachine_ns);
    const std::int64_t left_ns = began_ns + most_ns - monotonic_ns();
    if (left_ns <= 0) break;
    if (wait_for(std::min(left_ns, kLookEvery_ns), is_up)) return;
  }
  shared.begins.first_call.store(FirstCall::kNotHeld);
}

bool available() { return running_client() != nullptr; }

void arm(Ticks window_begin) {
  shared.request.off_at.store(kNever, std::memory_order_relaxed);
  if (!shared.request.on.exchange(true, std::memory_order_acq_rel) && running_client() != nullptr)
    shared.request_changed.notify_all();
  if (window_begin == 0) return;
  CuptiClient* const client = running_client();
  if (client == nullptr) {
    if (shared.phase.load() == Phase::kStarting) shared.begins.open_since_ns.store(monotonic_ns());
    return;
  }
  if (shared.request.owner.load(std::memory_order_acquire) != Owner::kUs) report_other_client();
  const std::int64_t now_ns = monotonic_ns();
  if (client->state.load(std::memory_order_acquire) == Capture::State::kOn) {
    shared.begins.window_began_ns.store(now_ns, std::memory_order_release);
    shared.request_changed.notify_all();
    return;
  }
  if (shared.boundaries_wait.load(std::memory_order_relaxed)) {
    const bool in_callback = LaunchCallbacks::on_this_thread();
    if (!(in_callback && shared.callbacks_block.load(std::memory_order_relaxed)) && wait_until_on(*client)) return;
    if (in_callback) shared.callbacks_block.store(true, std::memory_order_relaxed);
  }
  if (is_on_or_never(*client)) return;
  report_late_begin();
  shared.begins.late_since_ns.store(now_ns);
  shared.request_changed.notify_all();
}

void disarm(Ticks at, NextWindow next) {
  if (shared.request.off_at.load(std::memory_order_relaxed) == kNever)
    shared.request.off_at.store(at, std::memory_order_relaxed);
  const bool again = next != NextWindow::kNone, stays_on = next == NextWindow::kNear;
  bool changed = shared.request.again.exchange(again, std::memory_order_acq_rel) != again;
  changed = shared.request.on.exchange(stays_on, std::memory_order_acq_rel) != stays_on || changed;
  if (changed && running_client() != nullptr) shared.request_changed.notify_all();
}

/// True while the device thread has not said yet if it misses activity of a window that opened before CUPTI was ready.
bool has_unknown_begin(const CuptiClient* client) {
  const std::int64_t open_ns = shared.begins.open_since_ns.load(std::memory_order_acquire);
  if (open_ns == 0 || monotonic_ns() - open_ns > kBeginTimeout_ns) return false;
  if (client == nullptr) return shared.phase.load(std::memory_order_acquire) == Phase::kStarting;
  return client->state.load(std::memory_order_acquire) == Capture::State::kOff && !client->capture.refused();
}

bool has_settled(Ticks end) {
  CuptiClient* const client = running_client();
  if (has_unknown_begin(client)) return false;
  if (client == nullptr || client->settled_until.load(std::memory_order_acquire) >= end) return true;
  if (client->state.load(std::memory_order_acquire) == Capture::State::kFinished) return true;
  Ticks wanted = shared.request.settle_before.load(std::memory_order_relaxed);
  while (wanted < end && !shared.request.settle_before.compare_exchange_weak(wanted, end)) {
  }
  if (wanted < end) shared.request_changed.notify_all();
  return false;
}

bool take_overflow() { return shared.overflow.exchange(false, std::memory_order_relaxed); }

std::int32_t device_thread_id() { return shared.thread_id.load(std::memory_order_relaxed); }

void finish(bool abrupt) {
  disarm(ticks(), NextWindow::kNone);
  shared.request.abrupt.store(abrupt);
  shared.request.finish.store(true, std::memory_order_release);
  const std::int64_t timeout_ns = abrupt ? kAbruptTimeout_ns : kFinishTimeout_ns;
  // The process must not end inside the device thread's first CUPTI call.
  wait_for(timeout_ns, [] { return shared.phase.load(std::memory_order_acquire) != Phase::kStarting; });
  end_start(Phase::kOver);
  CuptiClient* const client = running_client();
  if (client == nullptr) return;
  if (!abrupt) client->callbacks.stop();
  shared.request_changed.notify_all();
  const bool done = wait_for(timeout_ns, [client] { return client->state.load() == Capture::State::kFinished; });
  shared.phase.store(Phase::kOver);
  if (done) return;
  recorder::count_loss(Loss::device_lost);
  recorder::problem("cupti", "CUPTI did not deliver the last device activity before the process ended");
}

void abandon_in_child() {
  // CUDA works in no child of a process that has initialized it.
  if (shared.phase.load() != Phase::kIdle) shared.phase.store(Phase::kOver, std::memory_order_relaxed);
  shared.thread_id.store(0, std::memory_order_relaxed);
  call_when_completed(nullptr);
}

void push_external_correlation(std::uint32_t id) {
  CuptiClient* const client = running_client();
  if (client == nullptr || !shared.external.load(std::memory_order_relaxed)) return;
  if (client->capture.state() != Capture::State::kOn) return;
  client->capture.scope().push_external(cupti::kOurExternalKind, id);
}

void pop_external_correlation() {
  CuptiClient* const client = running_client();
  if (client == nullptr || !shared.external.load(std::memory_order_relaxed)) return;
  // Pop even if CUPTI is off by now: no id may stay on CUPTI's stack.
  if (client->capture.state() == Capture::State::kYielded) return;
  client->capture.scope().pop_external(cupti::kOurExternalKind);
}

}  // namespace profshim::device
