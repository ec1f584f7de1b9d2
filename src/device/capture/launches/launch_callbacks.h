// LaunchCallbacks: CUPTI's callback API reports the calls that make steps, for steps.source = "kernel" and
// "cuda_profiler_api". It needs the only subscription of cuptiSubscribe(), which the job's own profiler may want. So it
// subscribes for these sources only, and unsubscribes at once when another client appears.
#pragma once

#include <atomic>
#include <string>

#include "device/cupti/api.h"
#include "profshim/device.h"

namespace profshim::device {

class LaunchCallbacks {
 public:
  enum class Wanted : std::uint8_t { kNothing, kKernels, kProfilerRanges };
  LaunchCallbacks(const CuptiApi& api, const StepListener& listener, Wanted wanted)
      : api_(api), listener_(listener), wanted_(wanted) {}

  /// Subscribes. Returns "", or a sentence if CUPTI refuses. Idempotent. Runs on the device thread, or on a thread on
  /// which another client has just left.
  std::string start();
  /// Unsubscribes. Returns false if there was no subscription. Any thread, also while callbacks run.
  bool stop();

  /// Handles a callback, on the thread that launches. Public for the tests.
  void on_callback(int domain, std::uint32_t callback_id, const void* data);
  /// Returns true if this thread is inside a callback. CUPTI may then hold locks that calls on other threads wait for.
  static bool on_this_thread();

 private:
  int subscribe(void** subscriber);
  void notify_listener(int domain, std::uint32_t callback_id, const char* symbol_name, Ticks now);

  const CuptiApi& api_;
  const StepListener listener_;
  const Wanted wanted_;
  std::atomic<void*> subscriber_{nullptr};
};

/// Returns the callbacks that a process needs. If libcudart is a shared library, hooks see cudaProfilerStart and Stop
/// by symbol, and no callback is needed.
LaunchCallbacks::Wanted wanted_callbacks(const Spec& spec, bool cudart_is_a_library);

}  // namespace profshim::device
