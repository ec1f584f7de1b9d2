#include "analysis/model/activity_names.h"

#include <gtest/gtest.h>

#include <string_view>

#include "analysis/model/timeline.h"

namespace profshim::test {
namespace {

using namespace analysis_detail;

struct Known {
  std::string_view category, name;
  Kind kind;
};

class KnownCategory : public testing::TestWithParam<Known> {};

TEST_P(KnownCategory, HasItsKind) { EXPECT_EQ(kind_of(GetParam().category, GetParam().name), GetParam().kind); }

INSTANTIATE_TEST_SUITE_P(ActivityNames, KnownCategory,
                         testing::Values(Known{"kernel", "Cijk_Ailk_Bljk_SB_MT128x64x16", Kind::kKernel},
                                         Known{"kernel", "my_dma_request_kernel", Kind::kKernel},
                                         Known{"gpu_memcpy", "CopyHostToDevice", Kind::kMemcpy},
                                         Known{"cuda_runtime", "hipExtModuleLaunchKernel", Kind::kRuntime},
                                         Known{"xpu_runtime", "urEnqueueKernelLaunch", Kind::kRuntime},
                                         Known{"xpu_driver", "zeCommandListAppendLaunchKernel", Kind::kDriver},
                                         Known{"xpu_sync", "Stream Sync", Kind::kSync},
                                         Known{"mtia_runtime", "recordEvent", Kind::kRuntime},
                                         Known{"mtia_ccp_events", "pe_exe", Kind::kKernel},
                                         Known{"mtia_ccp_events", "dma_request", Kind::kMemcpy},
                                         Known{"mtia_ccp_events", "event_wait", Kind::kSync},
                                         Known{"privateuse1_runtime", "Launch", Kind::kRuntime},
                                         Known{"privateuse1_driver", "x", Kind::kDriver},
                                         Known{"enqueue", "Enqueue", Kind::kRuntime},
                                         Known{"dequeue", "Dequeue@Mul", Kind::kRuntime},
                                         Known{"toplevel", "x", Kind::kOther}, Known{"", "x", Kind::kOther}));

struct Uncategorized {
  std::string_view process, name;
  Kind kind;
};

class WithoutCategory : public testing::TestWithParam<Uncategorized> {};

TEST_P(WithoutCategory, HasItsKind) {
  EXPECT_EQ(kind_without_category(GetParam().process, GetParam().name), GetParam().kind);
}

INSTANTIATE_TEST_SUITE_P(
    ActivityNames, WithoutCategory,
    testing::Values(Uncategorized{"Ascend Hardware", "aclnnMuls_MulAiCore_Mul", Kind::kKernel},
                    Uncategorized{"Ascend Hardware", "MEMCPY_ASYNC", Kind::kMemcpy},
                    Uncategorized{"Ascend Hardware", "NOTIFY_WAIT", Kind::kSync},
                    Uncategorized{"Ascend Hardware", "PROFILING_ENABLE", Kind::kOther},
                    Uncategorized{"CANN", "AscendCL@aclrtMemcpyAsync", Kind::kRuntime},
                    Uncategorized{"CANN", "Node@launch", Kind::kRuntime},
                    Uncategorized{"Overlap Analysis", "Computing", Kind::kOther},
                    Uncategorized{"GPU2", "Cijk_Ailk_Bljk_SB", Kind::kKernel},
                    Uncategorized{"GPU2", "CopyDeviceToHost", Kind::kMemcpy},
                    Uncategorized{"", "hipMemcpyWithStream", Kind::kRuntime},
                    Uncategorized{"", "hip_hop", Kind::kOther}, Uncategorized{"", "cuda stream", Kind::kOther},
                    Uncategorized{"", "zeCommandListAppendLaunchKernel", Kind::kRuntime},
                    Uncategorized{"", "gemm_kernel<float>[SIMD32 {64; 1; 1} {16; 16; 1}]", Kind::kKernel},
                    Uncategorized{"", "zeCommandListAppendMemoryCopy(H2D)[1024 bytes]", Kind::kMemcpy},
                    Uncategorized{"", "main", Kind::kOther}));

TEST(ActivityNames, KnowsLaunches) {
  for (const std::string_view name :
       {"cudaLaunchKernelExC", "cuLaunchKernel", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipGraphLaunch",
        "urEnqueueKernelLaunch", "zeCommandListAppendLaunchCooperativeKernel", "Runtime@KernelLaunchWithHandle",
        "runFunction - job_prep_and_submit_for_execution"}) {
    EXPECT_TRUE(is_launch(name)) << name;
  }
  for (const std::string_view name : {"hipMemcpyWithStream", "urEnqueueUSMMemcpy", "Node@launch", "recordEvent"}) {
    EXPECT_FALSE(is_launch(name)) << name;
  }
}

TEST(ActivityNames, KnowsPolls) {
  EXPECT_TRUE(is_poll("hipEventQuery"));
  EXPECT_TRUE(is_poll("zeEventQueryStatus"));
  EXPECT_FALSE(is_poll("hipEventSynchronize"));
}

TEST(ActivityNames, KnowsCollectives) {
  for (const std::string_view name :
       {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_AllReduce_RING_LL_Sum_float",
        "void rccl::all_reduce<float>", "oneccl_allreduce_small_kernel", "hcom_allReduce__538_0_1",
        "aiv_all_gather_bfloat16_t", "void vllm::cross_device_reduce_1stage<float, 2>"}) {
    EXPECT_TRUE(is_collective_kernel(name)) << name;
  }
  EXPECT_FALSE(is_collective_kernel("Cijk_Ailk_Bljk_SB_MT128x64x16"));
}

}  // namespace
}  // namespace profshim::test
