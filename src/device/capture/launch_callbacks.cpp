#include "launch_callbacks.h"

#include <cstddef>

namespace profshim::device {
namespace {

// cupti_callbacks.h and the lists of callback ids: unchanged from CUPTI 11.8 to 13.0.
constexpr int kDriverApi = 1, kRuntimeApi = 2;  // CUpti_CallbackDomain
constexpr int kEnter = 0;
struct CallbackData {
  int site;
  const char* function_name;
  const void* parameters;
  void* result;
  const char* symbol_name;  // of a launch: the kernel's, mangled
};

enum class Tells : std::uint8_t { kLaunch, kGraphLaunch, kProfilerStart, kProfilerStop };
struct Callback {
  int domain;
  std::uint32_t id;
  Tells tells;
};
/// Each launch of the runtime and of the driver, per-thread streams included. A runtime that launches through the
/// driver tells twice of one launch, which changes no step: the second is a consecutive match. A Start inside a range
/// likewise.
constexpr Callback kCallbacks[] = {
    {kDriverApi, 307, Tells::kLaunch},         // cuLaunchKernel
    {kDriverApi, 442, Tells::kLaunch},         // cuLaunchKernel_ptsz
    {kDriverApi, 477, Tells::kLaunch},         // cuLaunchCooperativeKernel
    {kDriverApi, 478, Tells::kLaunch},         // cuLaunchCooperativeKernel_ptsz
    {kDriverApi, 652, Tells::kLaunch},         // cuLaunchKernelEx
    {kDriverApi, 653, Tells::kLaunch},         // cuLaunchKernelEx_ptsz
    {kDriverApi, 514, Tells::kGraphLaunch},    // cuGraphLaunch
    {kDriverApi, 515, Tells::kGraphLaunch},    // cuGraphLaunch_ptsz
    {kDriverApi, 308, Tells::kProfilerStart},  // cuProfilerStart
    {kDriverApi, 309, Tells::kProfilerStop},   // cuProfilerStop
    {kRuntimeApi, 211, Tells::kLaunch},        // cudaLaunchKernel
    {kRuntimeApi, 214, Tells::kLaunch},        // cudaLaunchKernel_ptsz
    {kRuntimeApi, 269, Tells::kLaunch},        // cudaLaunchCooperativeKernel
    {kRuntimeApi, 270, Tells::kLaunch},        // cudaLaunchCooperativeKernel_ptsz
    {kRuntimeApi, 430, Tells::kLaunch},        // cudaLaunchKernelExC
    {kRuntimeApi, 431, Tells::kLaunch},        // cudaLaunchKernelExC_ptsz
    {kRuntimeApi, 505, Tells::kLaunch},        // __cudaLaunchKernel: CUDA 13
    {kRuntimeApi, 506, Tells::kLaunch},        // __cudaLaunchKernel_ptsz
    {kRuntimeApi, 311, Tells::kGraphLaunch},   // cudaGraphLaunch
    {kRuntimeApi, 312, Tells::kGraphLaunch},   // cudaGraphLaunch_ptsz
    {kRuntimeApi, 171, Tells::kProfilerStart}, {kRuntimeApi, 172, Tells::kProfilerStop},
};

bool is_wanted(Tells tells, LaunchCallbacks::Wanted wanted) {
  const bool of_a_launch = tells == Tells::kLaunch || tells == Tells::kGraphLaunch;
  return of_a_launch == (wanted == LaunchCallbacks::Wanted::kKernels);
}

/// When the last call that was told of returned. CUPTI may note the begin of a call before it tells us of it, and a
/// step begins before the launch that makes it: so much earlier, some microseconds on either clock, but not before what
/// the thread launched last.
thread_local constinit Ticks last_return __attribute__((tls_model("initial-exec"))) = 0;
thread_local constinit bool inside __attribute__((tls_model("initial-exec"))) = false;
constexpr Ticks kBeforeTheCall = 8192;
Ticks just_before(Ticks now) { return now - last_return > kBeforeTheCall ? now - kBeforeTheCall : last_return + 1; }

void call_back(void* user, int domain, std::uint32_t callback_id, const void* data) {
  static_cast<LaunchCallbacks*>(user)->on_callback(domain, callback_id, data);
}

}  // namespace

std::string LaunchCallbacks::start() {
  if (wanted_ == Wanted::kNothing || subscriber_.load() != nullptr) return {};
  if (api_.subscribe == nullptr || api_.unsubscribe == nullptr || api_.enable_callback == nullptr) {
    return "this CUPTI has no callbacks";
  }
  void* subscriber = nullptr;
  if (const int refused = subscribe(&subscriber); refused != 0) {
    if (subscriber_.load() != nullptr) return {};  // another thread was faster
    return "another client has CUPTI's callbacks (" + api_.text_of(refused) + ")";
  }
  int enabled = 0, refused = 0;
  for (const Callback& callback : kCallbacks) {
    if (!is_wanted(callback.tells, wanted_)) continue;
    const int result = api_.enable_callback(1, subscriber, callback.domain, callback.id);
    result == 0 ? ++enabled : refused = result;  // an older CUPTI does not know all of them
  }
  if (enabled == 0) {
    api_.unsubscribe(subscriber);
    return "CUPTI does not call back (" + api_.text_of(refused) + ")";
  }
  void* nobody = nullptr;
  if (!subscriber_.compare_exchange_strong(nobody, subscriber))
    api_.unsubscribe(subscriber);  // another thread's is there
  return {};
}

// Beside others where CUPTI has room for several.
int LaunchCallbacks::subscribe(void** subscriber) {
  if (!api_.has_subscriber_api()) return api_.subscribe(subscriber, call_back, this);
  SubscriberParameters parameters{};
  parameters.struct_size = sizeof parameters;
  parameters.name = "profshim steps";
  parameters.allow_multiple = 1;
  const int result = api_.subscribe_v2(subscriber, call_back, this, &parameters);
  return result == cupti::kSuccess ? result : api_.subscribe(subscriber, call_back, this);
}

bool LaunchCallbacks::stop() {
  void* const subscriber = subscriber_.exchange(nullptr);
  if (subscriber != nullptr) api_.unsubscribe(subscriber);
  return subscriber != nullptr;
}

void LaunchCallbacks::on_callback(int domain, std::uint32_t callback_id, const void* data) {
  const auto* const call = static_cast<const CallbackData*>(data);
  if (call == nullptr) return;
  const Ticks now = ticks();
  if (call->site != kEnter) {
    last_return = now;
    return;
  }
  inside = true;
  tell(domain, callback_id, call->symbol_name, now);
  inside = false;
}

bool LaunchCallbacks::on_this_thread() { return inside; }

void LaunchCallbacks::tell(int domain, std::uint32_t callback_id, const char* symbol_name, Ticks now) {
  for (const Callback& callback : kCallbacks) {
    if (callback.domain != domain || callback.id != callback_id) continue;
    switch (callback.tells) {
      case Tells::kLaunch:
        if (symbol_name != nullptr) listener_.kernel_launch(symbol_name, just_before(now));
        break;
      case Tells::kGraphLaunch:
        listener_.graph_launch();
        break;
      case Tells::kProfilerStart:
      case Tells::kProfilerStop:
        listener_.profiler_range(callback.tells == Tells::kProfilerStart, now);
        break;
    }
    return;
  }
}

LaunchCallbacks::Wanted wanted_callbacks(const Spec& spec, bool cudart_is_a_library) {
  if (spec.steps.source == StepSource::kKernel) return LaunchCallbacks::Wanted::kKernels;
  if (spec.steps.source == StepSource::kCudaProfilerApi && !cudart_is_a_library) {
    return LaunchCallbacks::Wanted::kProfilerRanges;
  }
  return LaunchCallbacks::Wanted::kNothing;
}

}  // namespace profshim::device
