// Machines and programs that are seldom: many devices, an old driver, no permission, a fork, a reset of the device.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "e2e/gpu_run.h"

namespace profshim::e2e {
namespace {

GpuRun machine(const std::string& mode, std::vector<std::pair<std::string, std::string>> environment = {},
               const std::string& cupti = "") {
  GpuJob job;
  job.program = "machine";
  job.arguments = {mode, "40"};
  job.environment = std::move(environment);
  job.cupti = cupti;
  GpuRun run = run_gpu(job);
  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  return run;
}

TEST(GpuMachines, EightDevicesOfOneProcess) {
  const GpuRun run = machine("devices", {{"FAKE_CUDA_DEVICES", "8"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.traces[0].fact("problems"), "[]");
  std::map<std::string, int> kernels;
  std::set<std::string> contexts;
  for (const SeenEvent* const kernel : of_category(run.traces[0], "kernel")) {
    ++kernels[kernel->args.at("device")];
    EXPECT_EQ(std::to_string(kernel->pid), kernel->args.at("device")) << "each device is a process of the trace";
    contexts.insert(kernel->args.at("context"));
  }
  EXPECT_EQ(kernels.size(), 8u);
  for (const auto& [device, count] : kernels) EXPECT_EQ(count, 40) << device;
  EXPECT_EQ(contexts.size(), 8u);
  const std::string& properties = run.traces[0].metadata.at("deviceProperties");
  for (int device = 0; device < 8; ++device) {
    EXPECT_NE(properties.find("\"id\":" + std::to_string(device)), std::string::npos) << properties;
  }
}

TEST(GpuMachines, AForkAfterCudaIsUpHarmsNeither) {
  const GpuRun run = machine("fork");

  EXPECT_EQ(run.printed.at("kernels"), 40);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 40u);
  EXPECT_EQ(run.traces[0].fact("problems"), "[]");
}

TEST(GpuMachines, AResetDeviceIsRecordedInItsNewContext) {
  const GpuRun run = machine("reset");

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  std::map<std::string, int> contexts;
  for (const SeenEvent* const kernel : of_category(run.traces[0], "kernel")) ++contexts[kernel->args.at("context")];
  EXPECT_EQ(contexts, (std::map<std::string, int>{{"1", 20}, {"65", 20}}));
  EXPECT_EQ(run.traces[0].fact("problems"), "[]");
}

// CUDA's minor version compatibility: libraries of 12 on a driver of 11.8.
TEST(GpuMachines, ADriverOf118WithTheLibrariesOf12) {
  const GpuRun run = machine("reset", {{"FAKE_CUDA_DRIVER", "11080"}}, "cuda12/libcupti.so.12");

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 40u);
  EXPECT_EQ(run.traces[0].metadata.at("cuda_driver_version"), "11080");
}

// CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: a container without the right, on a machine that keeps profiling to its admins.
TEST(GpuMachines, WithoutPermissionTheTraceSaysWhatToDo) {
  const GpuRun run = machine("reset", {{"FAKE_CUPTI_FAIL", "ActivityEnable=35"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 0u);
  EXPECT_NE(run.traces[0].fact("problems").find("NVreg_RestrictProfilingToAdminUsers"), std::string::npos)
      << run.traces[0].fact("problems");
}

// A second CUPTI, linked statically into the program, has taken the driver.
TEST(GpuMachines, AnotherCopyOfCuptiIsSaid) {
  const GpuRun run = machine("reset", {{"FAKE_CUPTI_FAIL", "ActivityEnable=39"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_NE(run.traces[0].fact("problems").find("another copy of CUPTI"), std::string::npos)
      << run.traces[0].fact("problems");
}

}  // namespace
}  // namespace profshim::e2e
