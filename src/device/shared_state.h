// Requests of the job's threads to the device thread, and its answers. No lock: each is one atomic value.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/capture/capture.h"
#include "device/cupti/thread_ids.h"
#include "own_thread.h"

namespace profshim::device {

struct Source;

enum class Phase : std::uint8_t {
  kIdle,      // start() has not been here
  kStarting,  // the device thread waits for cuInit and looks for CUPTI
  kRunning,   // it serves CUPTI
  kOver,      // there is none, or this is a forked child
};
/// Has the first CUDA call of the process waited for CUPTI?
enum class FirstCall : std::uint8_t {
  kNotSeen,  // there was none, or no hook saw it
  kHeld,
  kNotHeld,  // it went on before CUPTI was on
};
/// The client that may use the activity API of the process.
enum class Owner : std::uint8_t {
  kUs,
  kOther,
  kOtherIsSilent,  // it has disabled its kinds and has not flushed
};

inline constexpr Ticks kNever = ~Ticks{0};

struct SharedState {
  std::atomic<Phase> phase{Phase::kIdle};
  std::atomic<Source*> source{nullptr};  // from kRunning on
  std::atomic<std::int32_t> thread_id{0};
  IdPlaces places_of_starter;  // set before the device thread is made
  std::atomic<void (*)()> on_ready{nullptr};
  std::atomic<std::uint64_t> budget{2ull << 30};  // set_budget()
  std::atomic<bool> external{false};              // operations are pushed
  std::atomic<bool> trouble{false};

  // ---- recording
  std::atomic<bool> wanted_on{false};
  std::atomic<Ticks> wanted_off_at{0};  // kNever while the recorder is armed
  std::atomic<Ticks> wanted_settled{0};
  std::atomic<bool> wanted_finish{false};
  std::atomic<bool> finish_abruptly{false};
  // cudaProfilerStart is there to start a profiler: it waits until CUPTI is on. A step boundary never waits.
  std::atomic<bool> boundaries_wait{false};
  // A thread waited in a callback for CUPTI, which did not come on: it seems to wait for the callback. Tried once.
  std::atomic<bool> callbacks_block{false};

  // ---- windows that began without CUPTI
  std::atomic<std::int64_t> late_since_ns{0};  // a window began then without CUPTI
  std::atomic<std::int64_t> open_since_ns{0};  // a window was open then, and CUPTI had still to be found
  // A window began then, and CUPTI was on as far as its thread saw: the device thread knows whether it stayed on.
  std::atomic<std::int64_t> window_began_ns{0};
  std::atomic<FirstCall> first_call{FirstCall::kNotSeen};
  std::atomic<std::int64_t> start_deadline_ns{0};  // of await_start()

  // ---- other clients
  std::atomic<Owner> owner{Owner::kUs};
  std::atomic<std::int64_t> silent_since_ns{0};
  // Number of requests to yield, and the last one that the device thread has met. Its state alone may be that of an
  // earlier one.
  std::atomic<std::uint32_t> yields_asked{0}, yields_met{0};
  std::atomic<bool> yielded_too_late{false};
  std::atomic<TimestampCallback> foreign_clock{nullptr};

  Bell wishes_changed;
  Bell state_changed;
};
extern constinit SharedState shared;

/// The requests as they are now. Device thread.
Wishes wishes_now();
void wake_thread();

/// Waits until `done`, which the device thread's answers change, for as long as `patience_ns` allows. False: it is not.
template <class Done>
bool wait_for(std::int64_t patience_ns, const Done& done) {
  const std::int64_t until = monotonic_ns() + patience_ns;
  for (;;) {
    const std::uint32_t seen = shared.state_changed.now();
    if (done()) return true;
    const std::int64_t left = until - monotonic_ns();
    if (left <= 0) return false;
    shared.state_changed.wait(seen, left);
  }
}

}  // namespace profshim::device
