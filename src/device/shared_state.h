// State that the job's threads and the device thread share: requests to the device thread, and its answers. There is
// no lock: each member is one atomic value.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/capture/capture_request.h"
#include "device/cupti/thread_ids.h"
#include "futex_event.h"

namespace profshim::device {

struct CuptiClient;

enum class Phase : std::uint8_t {
  kIdle,      // start() has not been called
  kStarting,  // the device thread waits for cuInit and looks for CUPTI
  kRunning,   // the device thread serves CUPTI
  kOver,      // CUPTI is not available or has been given up, or this is a forked child
};
/// Did the first CUDA call of the process wait until CUPTI was on?
enum class FirstCall : std::uint8_t {
  kNotSeen,  // the process made none, or no hook saw it
  kHeld,
  kNotHeld,  // it continued before CUPTI was on
};
/// The client that may use the activity API of the process.
enum class Owner : std::uint8_t {
  kUs,
  kOther,
  kOtherIsSilent,  // the other client has disabled its kinds and has not flushed
};

/// SharedRequest::off_at while the recorder is armed.
inline constexpr Ticks kNever = ~Ticks{0};

/// A CaptureRequest in atomic members. Threads of the job write; the device thread reads with load().
struct SharedRequest {
  std::atomic<bool> on{false};
  std::atomic<Ticks> off_at{0};
  std::atomic<Ticks> settle_before{0};  // only rises
  std::atomic<bool> finish{false};
  std::atomic<bool> abrupt{false};  // written before `finish`, whose release publishes it

  std::atomic<Owner> owner{Owner::kUs};
  // Numbers of the newest yield that a thread asked for, and of the newest that the device thread has done. The state
  // kYielded alone would not tell: it may be left over from an earlier yield.
  std::atomic<std::uint32_t> yields_requested{0}, yields_done{0};
  std::atomic<bool> yielded_too_late{false};
  std::atomic<TimestampCallback> foreign_clock{nullptr};

  /// The request as it is now. Its members may come from different moments. Device thread.
  CaptureRequest load() const;
};

/// Windows that began while CUPTI was not on. Times are monotonic_ns(); 0 = none.
struct LateBeginState {
  std::atomic<std::int64_t> late_since_ns{0};  // a window began then without CUPTI
  std::atomic<std::int64_t> open_since_ns{0};  // a window was open then, and CUPTI was not found yet
  // A window began then, and its thread saw CUPTI on. The device thread knows whether CUPTI stayed on.
  std::atomic<std::int64_t> window_began_ns{0};
  std::atomic<FirstCall> first_call{FirstCall::kNotSeen};
  std::atomic<std::int64_t> start_deadline_ns{0};  // of await_start()
};

struct SharedState {
  std::atomic<Phase> phase{Phase::kIdle};
  std::atomic<CuptiClient*> client{nullptr};  // stored before kRunning, never reset
  std::atomic<std::int32_t> thread_id{0};     // gettid() of the device thread
  IdPlaces places_of_starter;                 // set before the device thread is created
  std::atomic<void (*)()> on_ready{nullptr};
  std::atomic<std::uint64_t> memory_budget{2ull << 30};  // bytes
  std::atomic<bool> external{false};                     // external correlation ids are pushed
  std::atomic<bool> overflow{false};
  // cudaProfilerStart exists to start a profiler: it waits until CUPTI is on. A step boundary never waits.
  std::atomic<bool> boundaries_wait{false};
  // A thread inside a callback waited for CUPTI, and CUPTI did not come on: it seems to wait for the callback to
  // return. Later callbacks do not wait.
  std::atomic<bool> callbacks_block{false};

  // When the other client became silent. The store of Owner::kOtherIsSilent publishes it.
  std::atomic<std::int64_t> silent_since_ns{0};

  SharedRequest request;
  LateBeginState begins;

  FutexEvent request_changed;
  FutexEvent state_changed;
};
extern constinit SharedState shared;

void wake_device_thread();

/// Waits until `done()` is true, at most `timeout_ns`. Returns false after the timeout. The device thread notifies
/// state_changed when `done` may have changed. Any thread.
template <class Done>
bool wait_for(std::int64_t timeout_ns, const Done& done) {
  const std::int64_t until = monotonic_ns() + timeout_ns;
  for (;;) {
    // Read the count before done(): a change after done() has then moved the count, and wait() returns at once.
    const std::uint32_t seen = shared.state_changed.count();
    if (done()) return true;
    const std::int64_t left = until - monotonic_ns();
    if (left <= 0) return false;
    shared.state_changed.wait(seen, left);
  }
}

}  // namespace profshim::device
