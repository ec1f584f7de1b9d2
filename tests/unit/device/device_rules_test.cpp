#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "profshim/device/activity_kinds.h"
#include "profshim/device/api_name.h"
#include "profshim/device/context_devices.h"
#include "profshim/device/correlation.h"
#include "profshim/device/possible_times.h"

namespace profshim {
namespace {

TEST(Correlation, IdsThatHaveWrappedAreLater) {
  EXPECT_TRUE(correlation_is_before(1, 2));
  EXPECT_FALSE(correlation_is_before(2, 2));
  EXPECT_TRUE(correlation_is_before(0xfffffff0u, 3));
  EXPECT_FALSE(correlation_is_before(3, 0xfffffff0u));
}

TEST(Correlation, IdsAreSortedAcrossTheWrap) {
  std::vector<std::uint32_t> ids{2, 0xfffffffeu, 1, 0xffffffffu};
  std::sort(ids.begin(), ids.end(), CorrelationOrder(ids.back()));
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{0xfffffffeu, 0xffffffffu, 1, 2}));
}

TEST(Correlation, IdsFarApartHaveOneOrder) {
  const CorrelationOrder before(0);
  for (const std::uint32_t a : {0u, 0x55555555u, 0xaaaaaaaau}) {
    for (const std::uint32_t b : {0u, 0x55555555u, 0xaaaaaaaau}) EXPECT_EQ(before(a, b) || before(b, a), a != b);
  }
  EXPECT_TRUE(before(0xaaaaaaaau, 0) && before(0, 0x55555555u) && before(0xaaaaaaaau, 0x55555555u));
}

TEST(ImpossibleTimes, AreCountedByTheFirstReason) {
  ImpossibleTimes times;
  EXPECT_TRUE(times.admit(10, 10, 10, 20));
  EXPECT_TRUE(times.admit(10, 20, 10, 20));
  EXPECT_FALSE(times.admit(0, 15, 10, 20));
  EXPECT_FALSE(times.admit(15, 0, 10, 20));
  EXPECT_FALSE(times.admit(16, 15, 10, 20));
  EXPECT_FALSE(times.admit(9, 15, 10, 20));
  EXPECT_FALSE(times.admit(15, 21, 10, 20));
  EXPECT_EQ(times, (ImpossibleTimes{.zero = 2, .reversed = 1, .outside = 2}));
  EXPECT_EQ(times.all(), 5u);
}

TEST(CopyKinds, AreUnpackedAsTheyWerePacked) {
  const CopyKinds host_to_device{1, 2, 3};
  EXPECT_EQ(packed(host_to_device), 1 | 2 << 4 | 3 << 8);
  EXPECT_EQ(copy_kinds(packed(host_to_device)), host_to_device);
}

TEST(ContextDevices, AnUnknownContextHasTheUnknownDevice) {
  ContextDevices devices;
  devices.note(1, 3);
  devices.note(2, 1u << 20);
  EXPECT_EQ(devices.device_of(1), 3);
  EXPECT_EQ(devices.device_of(2), kUnknownDevice);
  EXPECT_EQ(devices.device_of(7), kUnknownDevice);
  EXPECT_EQ(devices.size(), 2u);
}

TEST(LaunchCall, TheRuntimesCallIsTheLaunch) {
  Event runtime, driver;
  runtime.begin = 10;
  runtime.end = 20;
  runtime.api = {.is_runtime = 1};
  driver.begin = 12;
  driver.end = 20;
  driver.api = {};
  EXPECT_TRUE(is_made_inside(driver, runtime));
  EXPECT_FALSE(is_made_inside(runtime, driver));
  EXPECT_TRUE(is_launch_rather_than(runtime, driver));
  EXPECT_FALSE(is_launch_rather_than(driver, runtime));
  EXPECT_FALSE(is_launch_rather_than(runtime, runtime));
}

TEST(ApiName, LosesTheSuffixesOfCupti) {
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("__cudaLaunchKernel_v13000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cudaStreamGetCaptureInfo_v2"), "cudaStreamGetCaptureInfo_v2");
  EXPECT_EQ(plain_api_name("cuLaunchKernelEx"), "cuLaunchKernelEx");
  EXPECT_EQ(plain_api_name("1234"), "1234");
  EXPECT_EQ(plain_api_name(""), "");
}

}  // namespace
}  // namespace profshim
