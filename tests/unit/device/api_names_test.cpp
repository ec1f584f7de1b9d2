#include "device/cupti/api_names.h"

#include <gtest/gtest.h>

namespace profshim::device {
namespace {

TEST(ApiNames, RolesFollowFromNamesAndQueriesAreIgnored) {
  EXPECT_EQ(role_of_api("cudaLaunchKernelExC"), ApiRole::kLaunch);
  EXPECT_EQ(role_of_api("cuGraphLaunch"), ApiRole::kGraphLaunch);
  EXPECT_EQ(role_of_api("cudaMemcpyPeerAsync"), ApiRole::kCopy);
  EXPECT_EQ(role_of_api("cuMemcpyHtoD_v2"), ApiRole::kSyncCopy);
  EXPECT_EQ(role_of_api("cudaLaunchHostFunc"), ApiRole::kOther);
  EXPECT_EQ(role_of_api("cudaEventSynchronize"), ApiRole::kOther);
  EXPECT_EQ(role_of_api("cudaMallocAsync"), ApiRole::kOther);
  for (const char* noise : {"cudaGetDevice", "cudaGetLastError", "cuCtxGetCurrent", "cudaEventQuery"}) {
    EXPECT_EQ(role_of_api(noise), ApiRole::kIgnored) << noise;
  }
}

}  // namespace
}  // namespace profshim::device
