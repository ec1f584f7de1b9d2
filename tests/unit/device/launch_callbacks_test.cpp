#include "device/capture/launch_callbacks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#if __has_include(<cupti.h>)
#define HAVE_CUPTI_HEADERS 1
#include <cupti.h>
#endif

namespace profshim::device {
namespace {

struct Script {
  int subscribe_result = 0, enable_result = 0;
  void (*callback)(void*, int, std::uint32_t, const void*) = nullptr;
  void* user = nullptr;
  int subscribed = 0, unsubscribed = 0;
  std::set<std::pair<int, std::uint32_t>> enabled;
  std::vector<std::string> reported;
};
Script* script = nullptr;

int subscribe(void** subscriber, void (*callback)(void*, int, std::uint32_t, const void*), void* user) {
  if (script->subscribe_result != 0) return script->subscribe_result;
  ++script->subscribed;
  script->callback = callback;
  script->user = user;
  *subscriber = script;
  return 0;
}
int unsubscribe(void* subscriber) {
  EXPECT_EQ(subscriber, script);
  ++script->unsubscribed;
  return 0;
}
int enable_callback(std::uint32_t enable, void* subscriber, int domain, std::uint32_t id) {
  EXPECT_EQ(subscriber, script);
  EXPECT_EQ(enable, 1u);
  if (script->enable_result != 0) return script->enable_result;
  script->enabled.emplace(domain, id);
  return 0;
}

/// Has the layout of CUpti_CallbackData.
struct Data {
  int site = 0;
  const char* function_name = "";
  const void* parameters = nullptr;
  void* result = nullptr;
  const char* symbol_name = nullptr;
};

constexpr int kDriver = 1, kRuntime = 2;

class LaunchCallbacksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    script = &script_;
    api_.subscribe = subscribe;
    api_.unsubscribe = unsubscribe;
    api_.enable_callback = enable_callback;
  }
  void call(int domain, std::uint32_t id, const char* symbol, int site = 0) const {
    ASSERT_NE(script_.callback, nullptr);
    const Data data{.site = site, .symbol_name = symbol};
    script_.callback(script_.user, domain, id, &data);
  }
  static constexpr StepListener kListener = {
      [](const char* name, Ticks) { script->reported.emplace_back(name); },
      [] { script->reported.emplace_back("graph"); },
      [](bool begins, Ticks) { script->reported.emplace_back(begins ? "begin" : "end"); },
  };
  Script script_;
  CuptiApi api_;
};
using Reported = std::vector<std::string>;

TEST_F(LaunchCallbacksTest, ALaunchIsReportedOnceAtItsBegin) {
  LaunchCallbacks callbacks(api_, kListener, LaunchCallbacks::Wanted::kKernels);
  ASSERT_EQ(callbacks.start(), "");
  call(kDriver, 307, "_Z4adamv");
  call(kDriver, 307, "_Z4adamv", 1);
  call(kRuntime, 505, "_Z3fwdv");
  call(kRuntime, 505, nullptr);
  call(kDriver, 514, nullptr);
  call(kRuntime, 307, "another function with that number");
  EXPECT_EQ(script_.reported, (Reported{"_Z4adamv", "_Z3fwdv", "graph"}));
  EXPECT_EQ(script_.enabled.count({kDriver, 308}), 0u) << "ranges are not wanted";
}

TEST_F(LaunchCallbacksTest, ProfilerRangesAreReported) {
  LaunchCallbacks callbacks(api_, kListener, LaunchCallbacks::Wanted::kProfilerRanges);
  ASSERT_EQ(callbacks.start(), "");
  call(kDriver, 308, nullptr);
  call(kDriver, 309, nullptr);
  call(kRuntime, 171, nullptr);
  call(kRuntime, 172, nullptr);
  EXPECT_EQ(script_.reported, (Reported{"begin", "end", "begin", "end"}));
  EXPECT_EQ(script_.enabled.size(), 4u) << "launches pay nothing";
}

TEST_F(LaunchCallbacksTest, NothingIsSubscribedUnlessItIsNeeded) {
  LaunchCallbacks callbacks(api_, kListener, LaunchCallbacks::Wanted::kNothing);
  EXPECT_EQ(callbacks.start(), "");
  callbacks.stop();
  EXPECT_EQ(script_.subscribed + script_.unsubscribed, 0);
}

TEST_F(LaunchCallbacksTest, StopUnsubscribesOnceAndStartSubscribesAgain) {
  LaunchCallbacks callbacks(api_, kListener, LaunchCallbacks::Wanted::kKernels);
  ASSERT_EQ(callbacks.start(), "");
  ASSERT_EQ(callbacks.start(), "");
  EXPECT_EQ(script_.subscribed, 1);
  callbacks.stop();
  callbacks.stop();
  EXPECT_EQ(script_.unsubscribed, 1);
  ASSERT_EQ(callbacks.start(), "");
  EXPECT_EQ(script_.subscribed, 2);
}

TEST_F(LaunchCallbacksTest, StartReturnsWhyItFailed) {
  script_.subscribe_result = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
  LaunchCallbacks taken(api_, kListener, LaunchCallbacks::Wanted::kKernels);
  EXPECT_NE(taken.start().find("another client"), std::string::npos);
  script_.subscribe_result = 0;
  script_.enable_result = 1;
  LaunchCallbacks deaf(api_, kListener, LaunchCallbacks::Wanted::kKernels);
  EXPECT_NE(deaf.start(), "");
  EXPECT_EQ(script_.unsubscribed, 1) << "a useless subscription is not kept";
  api_.subscribe = nullptr;
  LaunchCallbacks none(api_, kListener, LaunchCallbacks::Wanted::kKernels);
  EXPECT_NE(none.start(), "");
}

TEST(WantedCallbacks, AreNeededOnlyIfNoHookSeesTheSymbols) {
  Spec spec;
  EXPECT_EQ(wanted_callbacks(spec, true), LaunchCallbacks::Wanted::kNothing);
  spec.steps.source = StepSource::kKernel;
  EXPECT_EQ(wanted_callbacks(spec, true), LaunchCallbacks::Wanted::kKernels);
  spec.steps.source = StepSource::kCudaProfilerApi;
  EXPECT_EQ(wanted_callbacks(spec, true), LaunchCallbacks::Wanted::kNothing);
  EXPECT_EQ(wanted_callbacks(spec, false), LaunchCallbacks::Wanted::kProfilerRanges);
}

#ifdef HAVE_CUPTI_HEADERS
TEST_F(LaunchCallbacksTest, CallbackIdsMatchTheVendorsHeaders) {
  LaunchCallbacks callbacks(api_, kListener, LaunchCallbacks::Wanted::kKernels);
  ASSERT_EQ(callbacks.start(), "");
  for (const std::uint32_t id :
       {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz}) {
    EXPECT_EQ(script_.enabled.count({CUPTI_CB_DOMAIN_DRIVER_API, id}), 1u) << id;
  }
  for (const std::uint32_t id :
       {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000,
        CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
        CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000}) {
    EXPECT_EQ(script_.enabled.count({CUPTI_CB_DOMAIN_RUNTIME_API, id}), 1u) << id;
  }
  EXPECT_EQ(offsetof(Data, symbol_name), offsetof(CUpti_CallbackData, symbolName));
  EXPECT_EQ(CUPTI_API_ENTER, 0);
  EXPECT_EQ(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, 308);
  EXPECT_EQ(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, 309);
  EXPECT_EQ(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, 171);
  EXPECT_EQ(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, 172);
}
#endif

}  // namespace
}  // namespace profshim::device
