// State that job threads share with the device thread. Members are atomic, or written before the device thread starts.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/capture/capture_request.h"
#include "device/cupti/thread_ids.h"
#include "profshim/base/threads/cpu_wait.h"
#include "profshim/base/threads/futex_event.h"

namespace profshim::device {

struct CuptiClient;

enum class Phase : std::uint8_t {
  kIdle,
  kStarting,  // waits for cuInit and CUPTI
  kRunning,
  kOver,  // no CUPTI, finished, or a forked child
};
/// Says whether the first CUDA call waited for CUPTI.
enum class FirstCall : std::uint8_t {
  kNotSeen,  // no call, or no hook saw it
  kHeld,
  kNotHeld,  // the wait timed out
};
enum class Owner : std::uint8_t {
  kUs,
  kOther,
  kOtherIsSilent,  // the other client has disabled its activity kinds, but not flushed
};

/// SharedRequest::off_at while armed.
inline constexpr Ticks kNever = ~Ticks{0};

/// Atomic form of CaptureRequest.
struct SharedRequest {
  std::atomic<bool> on{false};
  std::atomic<bool> again{true};  // stored before `on`
  std::atomic<Ticks> off_at{0};
  std::atomic<Ticks> settle_before{0};  // only grows
  std::atomic<bool> finish{false};
  std::atomic<bool> abrupt{false};  // stored before `finish`

  std::atomic<Owner> owner{Owner::kUs};
  // Numbers of the newest requested and completed yields: Capture::State::kYielded may be from an earlier yield.
  std::atomic<std::uint32_t> yields_requested{0}, yields_done{0};
  std::atomic<bool> yielded_too_late{false};
  std::atomic<TimestampCallback> foreign_clock{nullptr};

  /// Members may change between the loads.
  CaptureRequest load() const;
};

/// Times are monotonic_ns(); 0 = none.
struct LateBeginState {
  std::atomic<std::int64_t> late_since_ns{0};  // begin of a window that CUPTI missed at first
  std::atomic<std::int64_t> open_since_ns{0};  // begin of a window that opened before CUPTI was found
  // Begin of a window that found CUPTI on: the device thread checks that CUPTI stayed on.
  std::atomic<std::int64_t> window_began_ns{0};
  std::atomic<FirstCall> first_call{FirstCall::kNotSeen};
  // Both at the first await_start() that waits. Calls that wait later have the same limit.
  static constexpr std::int64_t kNotYet = -1;
  std::atomic<std::int64_t> await_began_ns{kNotYet};
  std::atomic<std::int64_t> waited_before_ns{kNotYet};  // how long the device thread had waited for a CPU
  CpuWaits device_thread_waits;
};

struct SharedState {
  std::atomic<Phase> phase{Phase::kIdle};
  std::atomic<CuptiClient*> client{nullptr};  // set before kRunning, never reset
  std::atomic<std::int32_t> thread_id{0};
  IdPlaces places_of_starter;  // of start()'s caller
  std::atomic<void (*)()> on_ready{nullptr};
  std::atomic<std::uint64_t> memory_budget{2ull << 30};  // bytes
  std::atomic<bool> external{false};                     // NCCL calls are recorded
  std::atomic<bool> overflow{false};
  // cudaProfilerStart makes the steps, and waits for CUPTI.
  std::atomic<bool> boundaries_wait{false};
  // A wait inside a CUPTI callback timed out: later callbacks do not wait.
  std::atomic<bool> callbacks_block{false};

  // Stored before Owner::kOtherIsSilent.
  std::atomic<std::int64_t> silent_since_ns{0};

  SharedRequest request;
  LateBeginState begins;

  FutexEvent request_changed;
  FutexEvent state_changed;
};
extern constinit SharedState shared;

void wake_device_thread();

/// Returns false after `timeout_ns`. Calls done() again when state_changed is notified.
template <class Done>
bool wait_for(std::int64_t timeout_ns, const Done& done) {
  const std::int64_t until = monotonic_ns() + timeout_ns;
  for (;;) {
    // Read the count before done(): after a change in between, wait() returns at once.
    const std::uint32_t seen = shared.state_changed.count();
    if (done()) return true;
    const std::int64_t left = until - monotonic_ns();
    if (left <= 0) return false;
    shared.state_changed.wait(seen, left);
  }
}

}  // namespace profshim::device
