// Functions of the driver that a static CUDA runtime looks up, as in cuBLAS; without CUPTI, only their hooks see
// launches.
#include <gtest/gtest.h>

#include "e2e/support/gpu_run.h"

namespace profshim::e2e {
namespace {

constexpr int kLaunches = 20;  // of the program, and as many by cuBLAS

GpuJob cublas(const std::string& capture, std::vector<std::pair<std::string, std::string>> environment = {}) {
  GpuJob job{.program = "cublas", .arguments = {std::to_string(kLaunches)}, .environment = std::move(environment)};
  job.spec = std::string(kRecordAll) + "[capture]\n" + capture;
  return job;
}

constexpr const char* kHost = "device_timing = \"host\"\n";

void expect_each_launch_once(const GpuRun& run) {
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(run.printed.at("kernels"), 2 * kLaunches);
  EXPECT_EQ(run.traces[0].counts("cuda_runtime")["cudaLaunchKernel"], kLaunches);
  EXPECT_EQ(run.traces[0].counts("cuda_driver")["cuLaunchKernel"], kLaunches);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
}

TEST(DriverLookups, LaunchesOfAStaticRuntimeAreRecordedOnceWithoutCupti) {
  expect_each_launch_once(run_gpu(cublas(kHost)));
}

TEST(DriverLookups, ARuntimeBeforeCuda12AsksTheOlderFunction) {
  expect_each_launch_once(run_gpu(cublas(kHost, {{"FAKE_CUBLAS_CUDART", "11040"}})));
}

TEST(DriverLookups, WithCuptiEachLaunchIsRecordedOnce) {
  const GpuRun run = run_gpu(cublas(""));

  expect_each_launch_once(run);
  EXPECT_EQ(of_category(run.traces.at(0), "kernel").size(), 2u * kLaunches);
}

TEST(DriverLookups, CanBeSwitchedOff) {
  const GpuRun run = run_gpu(cublas(kHost, {{"PROFSHIM_DLSYM", "0"}}));

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.traces[0].counts()["cudaLaunchKernel"], kLaunches);
  EXPECT_EQ(run.traces[0].counts()["cuLaunchKernel"], 0);
}

TEST(DriverLookups, AFailedAllocationOfAStaticRuntimeIsSeen) {
  GpuJob job = cublas("profile_memory = true\n", {{"FAKE_CUDA_OUT_OF_MEMORY_AT", "1"}});
  job.arguments.push_back("4096");

  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.printed.at("refused"), 3);
  int failures = 0;
  for (const SeenEvent& event : run.traces[0].events) failures += event.name == "[OutOfMemory]";
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(run.traces[0].property("limit"), "an allocation of 4096 bytes failed on device 0");
}

}  // namespace
}  // namespace profshim::e2e
