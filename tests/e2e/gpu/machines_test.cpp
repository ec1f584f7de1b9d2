#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "e2e/support/gpu_run.h"
#include "e2e/support/seen_trace.h"

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

TEST(GpuMachines, RecordsEightDevicesOfOneProcess) {
  const GpuRun run = machine("devices", {{"FAKE_CUDA_DEVICES", "8"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
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

TEST(GpuMachines, ForkAfterCudaInitLeavesParentAndChildUnchanged) {
  const GpuRun run = machine("fork");

  EXPECT_EQ(run.printed.at("kernels"), 40);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 40u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
}

TEST(GpuMachines, AResetDeviceIsRecordedInItsNewContext) {
  const GpuRun run = machine("reset");

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  std::map<std::string, int> contexts;
  for (const SeenEvent* const kernel : of_category(run.traces[0], "kernel")) ++contexts[kernel->args.at("context")];
  EXPECT_EQ(contexts, (std::map<std::string, int>{{"1", 20}, {"65", 20}}));
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
}

// CUPTI needs a driver of at least CUPTI's own CUDA major version.
TEST(GpuMachines, DriverTooOldForCuptiIsReported) {
  const GpuRun run = machine("reset", {{"FAKE_CUDA_DRIVER", "11080"}}, "cuda12/libcupti.so.12");

  EXPECT_EQ(run.printed.at("kernels"), 40);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 0u);
  EXPECT_NE(run.traces[0].property("problems").find("the driver (CUDA 11.8) may be older than this CUPTI"),
            std::string::npos)
      << run.traces[0].property("problems");
}

TEST(GpuMachines, RecordsWithADriverNewerThanCupti) {
  const GpuRun run = machine("reset", {{"FAKE_CUDA_DRIVER", "13000"}}, "cuda11/libcupti.so.11.8");

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 40u);
  EXPECT_EQ(run.traces[0].metadata.at("cuda_driver_version"), "13000");
}

// Result 35 is CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: only administrators may profile.
TEST(GpuMachines, WithoutPermissionTheTraceSaysWhatToDo) {
  const GpuRun run = machine("reset", {{"FAKE_CUPTI_FAIL", "ActivityEnable=35"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 0u);
  EXPECT_NE(run.traces[0].property("problems").find("NVreg_RestrictProfilingToAdminUsers"), std::string::npos)
      << run.traces[0].property("problems");
}

// CUPTI's stream numbers are unique only within a context.
TEST(GpuMachines, ContextsOfOneDeviceHaveSeparateTracks) {
  const GpuRun run = machine("contexts", {{"FAKE_CUDA_KERNEL_NS", "2000000"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  const SeenTrace& trace = run.traces[0];
  EXPECT_EQ(trace.property("problems"), "[]");
  EXPECT_NE(trace.property("device").find("\"device_overlaps\":0"), std::string::npos) << trace.property("device");
  std::map<std::int64_t, std::vector<const SeenEvent*>> lines;
  for (const SeenEvent* const kernel : of_category(trace, "kernel")) {
    EXPECT_EQ(kernel->pid, 0);
    EXPECT_EQ(kernel->args.at("stream"), "7");
    lines[kernel->tid].push_back(kernel);
  }
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines.begin()->first, 7);
  EXPECT_EQ(lines.rbegin()->first, 100'000'007);
  for (const auto& [tid, kernels] : lines) {
    EXPECT_EQ(kernels.size(), 20u) << tid;
    for (const SeenEvent* const kernel : kernels) {
      EXPECT_EQ(kernel->args.at("context"), kernels[0]->args.at("context"));
    }
  }
  std::set<std::string> names;
  for (const SeenEvent& event : trace.events) {
    if (event.name == "thread_name") names.insert(event.args.at("name"));
  }
  EXPECT_EQ(names.count("stream 7"), 1u);
  EXPECT_EQ(names.count("stream 7 of context " + lines.rbegin()->second[0]->args.at("context")), 1u);
}

TEST(GpuMachines, MigInstanceIsNamedWithItsUuid) {
  const GpuRun run = machine("reset", {{"FAKE_CUDA_MIG", "1"}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
  const std::string& properties = run.traces[0].metadata.at("deviceProperties");
  for (const char* const wanted :
       {"\"name\":\"Fake GPU MIG 1g.10gb\"", "\"numSms\":14", "\"uuid\":\"GPU-01000000-0000-0000-0000-000000000000\"",
        "\"migUuid\":\"MIG-10111213-1415-1617-1819-1a1b1c1d1e1f\"", "\"gpuInstanceId\":7", "\"computeInstanceId\":0"}) {
    EXPECT_NE(properties.find(wanted), std::string::npos) << wanted << " of " << properties;
  }
  const auto kernels = of_category(run.traces[0], "kernel");
  ASSERT_EQ(kernels.size(), 40u);
  EXPECT_NEAR(std::stod(kernels[0]->args.at("blocks per SM")), 2.0 / 14, 1e-6);
}

TEST(GpuMachines, ATraceSaysThatItsProcessWasAClientOfMps) {
  const GpuRun alone = machine("reset"), shared = machine("reset", {{"FAKE_CUDA_MPS", "1"}});

  ASSERT_EQ(shared.traces.size(), 1u) << shared.outcome.err;
  EXPECT_EQ(of_category(shared.traces[0], "kernel").size(), 40u);
  EXPECT_EQ(shared.traces[0].property("problems"), "[]");
  EXPECT_EQ(shared.traces[0].property("cuda_mps"), "true");
  ASSERT_EQ(alone.traces.size(), 1u) << alone.outcome.err;
  EXPECT_EQ(alone.traces[0].property("cuda_mps"), "");
}

// The driver loads a kernel at its first launch, unless CUDA_MODULE_LOADING=EAGER.
TEST(GpuMachines, LazyLoadingIsShownAsOverhead) {
  const GpuRun run = machine("reset");

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  int loadings = 0;
  for (const SeenEvent* const overhead : of_category(run.traces[0], "overhead")) {
    loadings += overhead->name == "Lazy Function Loading";
  }
  EXPECT_EQ(loadings, 2) << "the kernel is loaded before and after the reset";
}

}  // namespace
}  // namespace profshim::e2e
