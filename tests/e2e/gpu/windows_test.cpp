#include <gtest/gtest.h>

#include <map>

#include "e2e/support/gpu_run.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

std::string steps_spec(const std::string& pattern, int skip, int active) {
  return "[steps]\nsource = \"nvtx\"\npattern = \"" + pattern + "\"\n[schedule]\nskip_first = " + std::to_string(skip) +
         "\nwarmup = 1\nactive = " + std::to_string(active) + "\nrepeat = 1\n";
}

using GpuWindow = NeedsNvtx;

TEST_F(GpuWindow, HoldsTheDeviceActivityOfItsStepsOnly) {
  GpuJob job;
  job.program = "ddp";
  job.arguments = {"20"};
  job.spec = steps_spec("train_step", 5, 3);
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  const auto kernels = of_category(run.traces[0], "kernel");
  // A step has 4 layers forward and backward, 4 all-reduces and the optimizer.
  EXPECT_EQ(kernels.size(), 3u * 13u);
  EXPECT_EQ(of_category(run.traces[0], "gpu_memcpy").size(), 3u);
  EXPECT_EQ(run.traces[0].steps(), (std::vector<std::int64_t>{6, 7, 8}));
}

TEST_F(GpuWindow, HoldsKernelsThatEndLongAfterIt) {
  GpuJob job;
  job.program = "late";
  job.arguments = {"20"};
  job.environment = {{"FAKE_CUDA_KERNEL_NS", "2000000"}};  // the device is 200 ms behind
  job.spec = steps_spec("step", 4, 3);
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  // Step N launches grids of N + 1 blocks.
  std::map<std::string, int> grids;
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) ++grids[kernel->args.at("grid")];
  EXPECT_EQ(grids, (std::map<std::string, int>{{"[6,1,1]", 5}, {"[7,1,1]", 5}, {"[8,1,1]", 5}}));
}

TEST_F(GpuWindow, LeavesNoActivityKindEnabled) {
  GpuJob job;
  constexpr std::uint64_t kSteps = 3000;  // enough to disable CUPTI before the end
  job.program = "ddp";
  job.arguments = {std::to_string(kSteps)};
  job.spec = steps_spec("train_step", 5, 3);
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.left_enabled, std::vector<int>{}) << "CUPTI is off again after the window";
  EXPECT_EQ(run.cupti.at("subscribed"), 0u);
  // Calls may request buffers while CUPTI is being disabled.
  EXPECT_LE(run.cupti.at("requested") - run.cupti.at("completed"), 2u);
  EXPECT_LT(run.cupti.at("records_10"), kSteps * 13u / 2);
  EXPECT_GE(run.cupti.at("records_10"), 3u * 13u);
}

TEST_F(GpuWindow, ManyLeaveCuptiOnInBetween) {
  GpuJob job;
  job.program = "ddp";
  job.arguments = {"9000"};
  job.environment = {{"FAKE_CUPTI_AGAIN_CRASHES", "1"}};
  job.spec =
      "[steps]\nsource = \"nvtx\"\npattern = \"train_step\"\n"
      "[schedule]\nsteps = [\"5-7\", \"4500-4502\", \"8500-8502\"]\n";
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  ASSERT_EQ(run.traces.size(), 3u) << run.outcome.err;
  for (const SeenTrace& trace : run.traces) {
    EXPECT_EQ(of_category(trace, "kernel").size(), 3u * 13u);
    EXPECT_EQ(of_category(trace, "cuda_runtime").size(), of_category(run.traces[0], "cuda_runtime").size());
    EXPECT_EQ(trace.property("problems"), "[]");
  }
}

TEST_F(GpuWindow, ARankThatIsNotSelectedNeverOpensCupti) {
  GpuJob job;
  job.program = "ddp";
  job.spec = kRecordAll;
  job.environment = {{"PROFSHIM_RANKS", "1"}};
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(run.traces.size(), 0u);
  EXPECT_EQ(run.cupti_calls, std::vector<std::string>{});
}

TEST_F(GpuWindow, MillionLaunchesStayWithinTheMemoryLimit) {
  GpuJob job;
  job.program = "launch_loop";
  job.arguments = {"1000000", "10000"};
  job.environment = {{"FAKE_CUDA_TIMELINE", "/dev/null"}, {"FAKE_CUDA_KERNEL_NS", "1000"}};
  job.spec = std::string(kRecordAll) + "[limits]\nhost_memory = \"128MiB\"\n";
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(run.printed.at("kernels"), 1000100);
  const auto at = run.outcome.err.find("peak_kib ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stol(run.outcome.err.substr(at + 9)), (128 + 48) * 1024);
}

}  // namespace
}  // namespace profshim::e2e
