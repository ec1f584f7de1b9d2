// steps.source = "kernel" and "cuda_profiler_api": what makes the steps is told by CUPTI's callback API. That needs the
// one seat of cuptiSubscribe(), which the job's own profiler may want: taken for these sources only, given up at once
// when another client appears.
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

  /// Subscribes; a sentence when that could not be had, else "". Idempotent. The device thread, or one on which another
  /// client has let go.
  std::string start();
  /// Unsubscribes; false: there was no subscription. Any thread, also while callbacks run.
  bool stop();

  /// CUPTI's callback, on the thread that launches; public for the tests.
  void on_callback(int domain, std::uint32_t callback_id, const void* data);
  /// Is this thread inside one? CUPTI may hold locks of its own then, for which another thread's call of it waits.
  static bool on_this_thread();

 private:
  int subscribe(void** subscriber);
  void tell(int domain, std::uint32_t callback_id, const char* symbol_name, Ticks now);

  const CuptiApi& api_;
  const StepListener listener_;
  const Wanted wanted_;
  std::atomic<void*> subscriber_{nullptr};
};

/// The callbacks that a process needs: cudaProfilerStart and Stop are seen by symbol where libcudart is a library of
/// its own, and nothing is subscribed then.
LaunchCallbacks::Wanted wanted_callbacks(const Spec& spec, bool cudart_is_a_library);

}  // namespace profshim::device
