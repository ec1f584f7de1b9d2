#include "launch_callbacks.h"

#include <cstddef>

namespace profshim::device {
namespace {

// From cupti_callbacks.h.
constexpr int kEnter = 0;
struct CallbackData {
  int site;
  const char* function_name;
  const void* parameters;
  void* result;
  const char* symbol_name;
};

enum class Reports : std::uint8_t { kLaunch, kGraphLaunch, kProfilerStart, kProfilerStop };
struct Callback {
  int domain;
  std::uint32_t id;
  Reports reports;
};
/// CUPTI 11.8 to 13.0 have the same ids. CUPTI reports a launch twice if the runtime launches through the driver.
/// Listeners count consecutive matches as one step, and ignore cudaProfilerStart inside a range.
constexpr Callback kCallbacks[] = {
    {cupti::kDriverDomain, 307, Reports::kLaunch},         // cuLaunchKernel
    {cupti::kDriverDomain, 442, Reports::kLaunch},         // cuLaunchKernel_ptsz
    {cupti::kDriverDomain, 477, Reports::kLaunch},         // cuLaunchCooperativeKernel
    {cupti::kDriverDomain, 478, Reports::kLaunch},         // cuLaunchCooperativeKernel_ptsz
    {cupti::kDriverDomain, 652, Reports::kLaunch},         // cuLaunchKernelEx
    {cupti::kDriverDomain, 653, Reports::kLaunch},         // cuLaunchKernelEx_ptsz
    {cupti::kDriverDomain, 514, Reports::kGraphLaunch},    // cuGraphLaunch
    {cupti::kDriverDomain, 515, Reports::kGraphLaunch},    // cuGraphLaunch_ptsz
    {cupti::kDriverDomain, 308, Reports::kProfilerStart},  // cuProfilerStart
    {cupti::kDriverDomain, 309, Reports::kProfilerStop},   // cuProfilerStop
    {cupti::kRuntimeDomain, 211, Reports::kLaunch},        // cudaLaunchKernel
    {cupti::kRuntimeDomain, 214, Reports::kLaunch},        // cudaLaunchKernel_ptsz
    {cupti::kRuntimeDomain, 269, Reports::kLaunch},        // cudaLaunchCooperativeKernel
    {cupti::kRuntimeDomain, 270, Reports::kLaunch},        // cudaLaunchCooperativeKernel_ptsz
    {cupti::kRuntimeDomain, 430, Reports::kLaunch},        // cudaLaunchKernelExC
    {cupti::kRuntimeDomain, 431, Reports::kLaunch},        // cudaLaunchKernelExC_ptsz
    {cupti::kRuntimeDomain, 505, Reports::kLaunch},        // __cudaLaunchKernel
    {cupti::kRuntimeDomain, 506, Reports::kLaunch},        // __cudaLaunchKernel_ptsz
    {cupti::kRuntimeDomain, 311, Reports::kGraphLaunch},   // cudaGraphLaunch
    {cupti::kRuntimeDomain, 312, Reports::kGraphLaunch},   // cudaGraphLaunch_ptsz
    {cupti::kRuntimeDomain, 171, Reports::kProfilerStart}, {cupti::kRuntimeDomain, 172, Reports::kProfilerStop},
};

bool is_wanted(Reports reports, LaunchCallbacks::Wanted wanted) {
  const bool of_a_launch = reports == Reports::kLaunch || reports == Reports::kGraphLaunch;
  return of_a_launch == (wanted == LaunchCallbacks::Wanted::kKernels);
}

thread_local constinit Ticks last_return __attribute__((tls_model("initial-exec"))) = 0;
thread_local constinit bool inside __attribute__((tls_model("initial-exec"))) = false;
/// Some microseconds. CUPTI may time a launch before the callback, but a step must begin before its launch.
constexpr Ticks kBeforeTheCall = 8192;
Ticks just_before(Ticks now) { return now - last_return > kBeforeTheCall ? now - kBeforeTheCall : last_return + 1; }

void call_back(void* user, int domain, std::uint32_t callback_id, const void* data) {
  static_cast<LaunchCallbacks*>(user)->on_callback(domain, callback_id, data);
}

}  // namespace

std::string LaunchCallbacks::start() {
  if (wanted_ == Wanted::kNothing || subscriber_.load() != nullptr) return {};
  if (api_.subscribe == nullptr || api_.unsubscribe == nullptr || api_.enable_callback == nullptr) {
    return "this CUPTI lacks cuptiSubscribe or cuptiEnableCallback";
  }
  void* subscriber = nullptr;
  if (const int refused = subscribe(&subscriber); refused != 0) {
    if (subscriber_.load() != nullptr) return {};  // another thread was faster
    return "another client uses CUPTI's callbacks (" + api_.text_of(refused) + ")";
  }
  int enabled = 0, refused = 0;
  for (const Callback& callback : kCallbacks) {
    if (!is_wanted(callback.reports, wanted_)) continue;
    const int result = api_.enable_callback(1, subscriber, callback.domain, callback.id);
    result == 0 ? ++enabled : refused = result;  // an older CUPTI lacks some calls
  }
  if (enabled == 0) {
    api_.unsubscribe(subscriber);
    return "CUPTI enables no callback (" + api_.text_of(refused) + ")";
  }
  void* expected = nullptr;
  if (!subscriber_.compare_exchange_strong(expected, subscriber)) api_.unsubscribe(subscriber);
  return {};
}

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
  notify_listener(domain, callback_id, call->symbol_name, now);
  inside = false;
}

bool LaunchCallbacks::on_this_thread() { return inside; }

void LaunchCallbacks::notify_listener(int domain, std::uint32_t callback_id, const char* symbol_name, Ticks now) {
  for (const Callback& callback : kCallbacks) {
    if (callback.domain != domain || callback.id != callback_id) continue;
    switch (callback.reports) {
      case Reports::kLaunch:
        if (symbol_name != nullptr) listener_.kernel_launch(symbol_name, just_before(now));
        break;
      case Reports::kGraphLaunch:
        listener_.graph_launch();
        break;
      case Reports::kProfilerStart:
      case Reports::kProfilerStop:
        listener_.profiler_range(callback.reports == Reports::kProfilerStart, now);
        break;
    }
    return;
  }
}

LaunchCallbacks::Wanted wanted_callbacks(const Spec& spec, bool cudart_is_a_library) {
  if (spec.steps.source == StepSource::kKernel || has_phases_of(spec, PhaseSource::kKernel))
    return LaunchCallbacks::Wanted::kKernels;
  if (spec.steps.source == StepSource::kCudaProfilerApi && !cudart_is_a_library) {
    return LaunchCallbacks::Wanted::kProfilerRanges;
  }
  return LaunchCallbacks::Wanted::kNothing;
}

}  // namespace profshim::device
