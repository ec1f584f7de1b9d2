#include "kineto/left_out.h"

#include <gtest/gtest.h>

namespace profshim::kineto {
namespace {

TraceEvent slice(Category category, std::string_view name, std::int64_t us) {
  TraceEvent event;
  event.category = category;
  event.name = name;
  event.duration_ns = us * 1000;
  return event;
}

TraceEvent flow(char phase, std::uint64_t id) {
  TraceEvent event;
  event.phase = phase;
  event.category = Category::kAc2g;
  event.name = "ac2g";
  event.id = id;
  return event;
}

TEST(LeftOut, ExcludesNamesAndCategories) {
  LeftOut filter({.exclude = {"Memset*", "cuda_runtime"}});
  EXPECT_FALSE(filter.keeps(slice(Category::kGpuMemset, "Memset (Device)", 3)));
  EXPECT_FALSE(filter.keeps(slice(Category::kCudaRuntime, "cudaLaunchKernel", 5)));
  EXPECT_FALSE(filter.keeps(slice(Category::kCudaRuntime, "cudaLaunchKernel", 6)));
  EXPECT_TRUE(filter.keeps(slice(Category::kKernel, "gemm", 5)));

  ASSERT_EQ(filter.sums().size(), 2u);
  EXPECT_EQ(filter.sums().at("gpu_memset").events, 1u);
  EXPECT_EQ(filter.sums().at("cuda_runtime").events, 2u);
  EXPECT_EQ(filter.sums().at("cuda_runtime").ns, 11000);
}

TEST(LeftOut, TheSecondPassCountsNothing) {
  LeftOut filter({.exclude = {"a"}});
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_FALSE(filter.keeps(slice(Category::kCpuOp, "a", 1)));
    filter.begin_second_pass();
  }
  EXPECT_EQ(filter.sums().at("cpu_op").events, 1u);
}

TEST(LeftOut, IncludesOnlyMatches) {
  LeftOut filter({.include = {"kernel", "aten::mm"}});
  EXPECT_TRUE(filter.keeps(slice(Category::kKernel, "gemm", 1)));
  EXPECT_TRUE(filter.keeps(slice(Category::kCpuOp, "aten::mm", 1)));
  EXPECT_FALSE(filter.keeps(slice(Category::kCpuOp, "aten::add", 1)));
}

TEST(LeftOut, LeavesOutShortSlices) {
  LeftOut filter({.min_us = 5});
  EXPECT_FALSE(filter.keeps(slice(Category::kCpuOp, "aten::add", 4)));
  EXPECT_TRUE(filter.keeps(slice(Category::kCpuOp, "aten::add", 5)));
}

TEST(LeftOut, StepsPhasesCountersAndCallsBetweenRanksStay) {
  LeftOut filter({.include = {"nothing"}, .min_us = 5});
  EXPECT_TRUE(filter.keeps(slice(Category::kUserAnnotation, "ProfilerStep#3", 1)));
  EXPECT_TRUE(filter.keeps(slice(Category::kPhase, "rollout", 1)));
  EXPECT_TRUE(filter.keeps(slice(Category::kCpuOp, "MPI_Allreduce", 1)));
  EXPECT_TRUE(filter.keeps(slice(Category::kCpuOp, "record_param_comms", 1)));
  TraceEvent counter = slice(Category::kNone, "process cpu", 0);
  counter.phase = 'C';
  EXPECT_TRUE(filter.keeps(counter));
  EXPECT_FALSE(filter.keeps(slice(Category::kUserAnnotation, "train", 9)));
}

TEST(LeftOut, CallsBetweenRanksGoIfTheyAreNamed) {
  LeftOut filter({.exclude = {"MPI_Allreduce"}});
  EXPECT_FALSE(filter.keeps(slice(Category::kCpuOp, "MPI_Allreduce", 1)));
}

TEST(LeftOut, AFlowGoesWithEitherEnd) {
  LeftOut filter({.exclude = {"cudaMalloc*", "tiny"}});
  bool kept[2][3][2] = {};
  for (int pass = 0; pass < 2; ++pass) {
    const char* const calls[] = {"cudaMallocAsync", "cudaLaunchKernel", "cudaLaunchKernel"};
    const char* const kernels[] = {"big", "tiny", "big"};
    for (std::uint64_t i = 0; i < 3; ++i) {
      filter.keeps(slice(Category::kCudaRuntime, calls[i], 1));
      kept[pass][i][0] = filter.keeps(flow('s', i));
    }
    for (std::uint64_t i = 0; i < 3; ++i) {
      filter.keeps(slice(Category::kKernel, kernels[i], 1));
      kept[pass][i][1] = filter.keeps(flow('f', i));
    }
    filter.begin_second_pass();
  }
  EXPECT_FALSE(kept[1][0][0] || kept[1][0][1]) << "without its launch";
  EXPECT_FALSE(kept[1][1][0] || kept[1][1][1]) << "without its kernel";
  EXPECT_TRUE(kept[1][2][0] && kept[1][2][1]);
}

}  // namespace
}  // namespace profshim::kineto
