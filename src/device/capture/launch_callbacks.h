// cuptiSubscribe() allows one subscriber: profshim subscribes only if steps need callbacks, and unsubscribes when
// another client appears.
#pragma once

#include <atomic>
#include <string>

#include "device/cupti/api.h"
#include "profshim/device.h"

namespace profshim::device {

/// Reports the CUDA calls that make steps.
class LaunchCallbacks {
 public:
  enum class Wanted : std::uint8_t { kNothing, kKernels, kProfilerRanges };
  LaunchCallbacks(const CuptiApi& api, const StepListener& listener, Wanted wanted)
      : api_(api), listener_(listener), wanted_(wanted) {}

  /// Returns "", or why CUPTI refuses. Idempotent, thread-safe.
  std::string start();
  /// Returns false if not subscribed. Thread-safe, even during callbacks.
  bool stop();

  /// Called before and after a CUDA call, on the calling thread.
  void on_callback(int domain, std::uint32_t callback_id, const void* data);
  /// True inside a callback: CUPTI may hold locks that other threads wait for.
  static bool on_this_thread();

 private:
  int subscribe(void** subscriber);
  void notify_listener(int domain, std::uint32_t callback_id, const char* symbol_name, Ticks now);

  const CuptiApi& api_;
  const StepListener listener_;
  const Wanted wanted_;
  std::atomic<void*> subscriber_{nullptr};
};

/// If libcudart is a shared library, hooks see cudaProfilerStart and cudaProfilerStop: no callbacks are needed.
LaunchCallbacks::Wanted wanted_callbacks(const Spec& spec, bool cudart_is_a_library);

}  // namespace profshim::device
