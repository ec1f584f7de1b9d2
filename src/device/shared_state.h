// State of job threads and the device thread. No lock: each member is atomic.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/capture/capture_request.h"
#include "device/cupti/thread_ids.h"
#include "futex_event.h"

namespace profshim::device {

struct CuptiClient;

enum class Phase : std::uint8_t {
  kIdle,
  kStarting,  // waits for cuInit and CUPTI
  kRunning,
  kOver,  // no CUPTI, or a forked child
};
/// Whether the first CUDA call waited for CUPTI.
enum class FirstCall : std::uint8_t {
  kNotSeen,  // no call, or no hook saw it
  kHeld,
  kNotHeld,  // CUPTI was not on
};
enum class Owner : std::uint8_t {
  kUs,
  kOther,
  kOtherIsSilent,  // its kinds are off, but not flushed
};

/// off_at while armed.
inline constexpr Ticks kNever = ~Ticks{0};

/// Job threads write; the device thread reads.
struct SharedRequest {
  std::atomic<bool> on{false};
  std::atomic<Ticks> off_at{0};
  std::atomic<Ticks> settle_before{0};  // only rises
  std::atomic<bool> finish{false};
  std::atomic<bool> abrupt{false};  // published by `finish`

  std::atomic<Owner> owner{Owner::kUs};
  // Newest yields requested and done: kYielded alone may be from an earlier yield.
  std::atomic<std::uint32_t> yields_requested{0}, yields_done{0};
  std::atomic<bool> yielded_too_late{false};
  std::atomic<TimestampCallback> foreign_clock{nullptr};

  /// Members may be of different moments. Device thread.
  CaptureRequest load() const;
};

/// Times are monotonic_ns(); 0 = none.
struct LateBeginState {
  std::atomic<std::int64_t> late_since_ns{0};  // a window began without CUPTI
  std::atomic<std::int64_t> open_since_ns{0};  // a window was open before CUPTI was found
  // A window began with CUPTI on; the device thread checks that it stayed on.
  std::atomic<std::int64_t> window_began_ns{0};
  std::atomic<FirstCall> first_call{FirstCall::kNotSeen};
  std::atomic<std::int64_t> start_deadline_ns{0};
};

struct SharedState {
  std::atomic<Phase> phase{Phase::kIdle};
  std::atomic<CuptiClient*> client{nullptr};  // before kRunning, never reset
  std::atomic<std::int32_t> thread_id{0};
  IdPlaces places_of_starter;  // before the device thread starts
  std::atomic<void (*)()> on_ready{nullptr};
  std::atomic<std::uint64_t> memory_budget{2ull << 30};  // bytes
  std::atomic<bool> external{false};
  std::atomic<bool> overflow{false};
  // cudaProfilerStart waits for CUPTI. A step boundary never waits.
  std::atomic<bool> boundaries_wait{false};
  // A callback waited in vain: CUPTI seems to wait for its return. Later ones do not wait.
  std::atomic<bool> callbacks_block{false};

  // Published by the store of Owner::kOtherIsSilent.
  std::atomic<std::int64_t> silent_since_ns{0};

  SharedRequest request;
  LateBeginState begins;

  FutexEvent request_changed;
  FutexEvent state_changed;
};
extern constinit SharedState shared;

void wake_device_thread();

/// False after `timeout_ns`. `done` may change when state_changed is notified. Any thread.
template <class Done>
bool wait_for(std::int64_t timeout_ns, const Done& done) {
  const std::int64_t until = monotonic_ns() + timeout_ns;
  for (;;) {
    // Read the count before done(): wait() then returns at once after a change.
    const std::uint32_t seen = shared.state_changed.count();
    if (done()) return true;
    const std::int64_t left = until - monotonic_ns();
    if (left <= 0) return false;
    shared.state_changed.wait(seen, left);
  }
}

}  // namespace profshim::device
