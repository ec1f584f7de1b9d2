// tests/fakes/cupti/options.h names the sources of these faults of CUPTI releases.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/machine/sanitizer.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

const char* const kJob = "../gpu/gpu_job_fake";

std::string steps(const std::string& list) {
  return "[steps]\nsource = \"nvtx\"\npattern = \"step*\"\n[schedule]\nsteps = [" + list + "]\n";
}
bool says(const SeenTrace& trace, const std::string& text) {
  return trace.property("problems").find(text) != std::string::npos;
}

class GpuReleases : public NeedsNvtx {
 protected:
  /// A step launches 20 kernels on each of two streams (`mode` "mixed") or 20 graphs ("graphs").
  static GpuRun record(const std::string& mode, std::vector<std::pair<std::string, std::string>> faults,
                       const std::string& list = "\"3-5\"", const std::string& job_steps = "12") {
    GpuJob job;
    job.program = kJob;
    job.arguments = {mode, job_steps, "20"};
    job.environment = std::move(faults);
    job.environment.emplace_back("FAKE_CUDA_KERNEL_NS", "50000");
    job.spec = steps(list);
    GpuRun run = run_gpu(job);
    EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
    return run;
  }
};

TEST_F(GpuReleases, FirstCallWaitsLongerOnABusyMachine) {
  const GpuRun run = record("mixed", {{"FAKE_CUDA_THREAD_BUSY_MS", "800"}});

  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 120u);
}

// The job's first call waits half a second for CUPTI; its window ends long before the library has reached CUPTI.
TEST_F(GpuReleases, WindowThatEndsBeforeCuptiIsReadySaysSo) {
  const GpuRun run =
      record("mixed", {{"FAKE_CUDA_THREAD_INIT_MS", "3000"}, {"GPU_JOB_STEP_MS", "40"}}, "\"3-5\"", "100");

  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_TRUE(of_category(run.traces[0], "kernel").empty());
  EXPECT_TRUE(says(run.traces[0], "switched on after a window had begun")) << run.traces[0].property("problems");
  EXPECT_EQ(run.traces[0].property("gpu_recorded_after_us"), "[null]");
}

// CUPTI writes the records of devices, contexts and streams at their creation, before any window.
TEST_F(GpuReleases, WindowKnowsOlderDevicesContextsAndStreams) {
  const GpuRun run = record("mixed", {});

  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
  EXPECT_NE(run.traces[0].metadata.at("deviceProperties").find("Fake GPU"), std::string::npos);
  const auto kernels = of_category(run.traces[0], "kernel");
  ASSERT_EQ(kernels.size(), 3u * 40u);
  for (const SeenEvent* const kernel : kernels) {
    EXPECT_EQ(kernel->args.count("est. achieved occupancy %"), 1u);
    EXPECT_EQ(kernel->args.count("priority"), 1u);
  }
}

// The library must wait for the kernel's record longer than kGrace_ns of launch_tracker.cpp.
TEST_F(GpuReleases, LongKernelOnAnOlderStreamIsRecorded) {
  GpuJob job;
  job.program = "long_kernel";
  job.environment = {{"FAKE_CUDA_KERNELS", "long_kernel=900000000,quick_kernel=1000000"}};
  job.spec = steps("\"6-8\"");
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 31u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
}

// Until the device has caught up, every CUPTI buffer has an incomplete record, so CUPTI returns no buffer.
TEST_F(GpuReleases, CuptiIsOffAtTheEndOfTheWindowEvenIfTheHostIsFarAhead) {
  // The device takes 5 ms for a step that takes the host 3 ms.
  GpuJob job;
  job.program = kJob;
  job.arguments = {"ahead", "100", "5", "1000", "0"};
  job.environment = {{"GPU_JOB_STEP_MS", "3"}};
  job.spec = steps("\"12-14\"");
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 15u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
  EXPECT_LT(run.cupti.at("records_10"), 300u) << "of 500 kernels";
}

// CUPTI 13.2.23 to 13.2.86 recurses endlessly if its initialization fails.
TEST_F(GpuReleases, NoCallReachesACuptiThatCannotBeInitialized) {
  GpuJob job;
  job.program = "launch_loop";
  job.environment = {{"FAKE_CUPTI_RECURSES", "1"}};
  const GpuRun good = run_gpu(job);
  EXPECT_EQ(good.outcome.ending(), "exit 0") << good.outcome.err;
  ASSERT_EQ(good.traces.size(), 1u);
  EXPECT_FALSE(of_category(good.traces[0], "kernel").empty());

  job.environment.emplace_back("FAKE_CUDA_NO_DEVICE", "1");
  const GpuRun bad = run_gpu(job);
  EXPECT_EQ(bad.outcome.ending(), "exit 1") << bad.outcome.err;
  EXPECT_NE(bad.outcome.err.find("no CUDA-capable device is detected"), std::string::npos);
  EXPECT_EQ(bad.cupti_calls, std::vector<std::string>{});
  EXPECT_NE(bad.outcome.err.find("cuInit ended with CUDA_ERROR_NO_DEVICE (100)"), std::string::npos) << bad.outcome.err;
}

// cuptiActivityDisable() of CUPTI 13.0 waits for a lock that a launch holds.
TEST_F(GpuReleases, TheJobGoesOnWhileCuptiHangsInADisable) {
  const GpuRun run = record("mixed", {{"FAKE_CUPTI_DISABLE_HANGS_MS", "1500"}});

  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_LT(std::stod(run.traces[0].property("stall_us")), 100'000);
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 3u * 40u);
}

// Enabling CUPTI waits until the device is idle, at the job's end.
TEST_F(GpuReleases, TheJobGoesOnWhileCuptiWaitsForTheDevice) {
  GpuJob job;
  job.program = kJob;
  job.arguments = {"ahead", "60", "5", "1000", "0"};
  job.environment = {{"FAKE_CUPTI_SYNCHRONIZES", "1"}, {"GPU_JOB_STEP_MS", "3"}};
  job.spec = "[steps]\nsource = \"nvtx\"\npattern = \"step*\"\n[schedule]\nsteps = [\"30-31\"]\n";
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_LT(std::stod(run.traces[0].property("stall_us")), 50'000);
  if (of_category(run.traces[0], "kernel").size() != 10) {
    EXPECT_TRUE(says(run.traces[0], "switched on after a window had begun")) << run.traces[0].property("problems");
  }
}

TEST_F(GpuReleases, TheJobEndsWhileCuptiLetsNoCallRunDuringASwitch) {
  const GpuRun run = record("mixed", {{"FAKE_CUPTI_BLOCKS", "1"}, {"FAKE_CUPTI_SLOW_ENABLE_MS", "40"}});

  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 3u * 40u);
}

// After a repeated registration of a clock, CUPTI gives the first kernel wrong times.
TEST_F(GpuReleases, TheClockIsRegisteredOncePerProcess) {
  const GpuRun run =
      record("mixed", {{"FAKE_CUPTI_HEAD_KERNEL", "1"}, {"GPU_JOB_STEP_MS", "50"}}, "\"3-4\", \"30-31\"", "40");

  ASSERT_EQ(run.traces.size(), 2u);
  EXPECT_EQ(run.calls("cuptiActivityRegisterTimestampCallback"), 1);
  for (const SeenTrace& trace : run.traces) EXPECT_EQ(of_category(trace, "kernel").size(), 2u * 40u);
}

// If the library registered a clock too, Kineto would misread the first kernel's times.
TEST_F(GpuReleases, NoClockIsRegisteredBesidePyTorch) {
  const ScratchFolder scratch;
  const std::string torch = scratch / "libtorch_cuda.so";
  std::filesystem::copy_file(built("tests/apps_symbol/symbol_plugin.so"), torch);
  const GpuRun run = record("mixed", {{"LD_PRELOAD", sanitizer_preload() + shim_path() + ":" + torch}});

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(run.calls("cuptiActivityRegisterTimestampCallback"), 0);
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 3u * 40u);
  EXPECT_NE(run.traces[0].property("device_timing").find("realtime, converted"), std::string::npos)
      << run.traces[0].property("device_timing");
}

TEST_F(GpuReleases, GraphsOlderThanCuptiAreReportedMissing) {
  const GpuRun run = record("graphs", {{"FAKE_CUPTI_OLD_GRAPHS", "1"}}, "\"40-41\"", "50");

  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 0u);
  EXPECT_TRUE(says(run.traces[0], "graphs that were made before CUPTI was first switched on"))
      << run.traces[0].property("problems");
}

// CUPTI 13.0 mixes up the launches of graphs once it has gone on again: it must stay on between windows.
TEST_F(GpuReleases, GraphsAreJoinedInBothWindows) {
  const GpuRun run = record("graphs", {{"FAKE_CUPTI_GRAPH_SESSIONS", "1"}, {"FAKE_CUDA_KERNELS", "_kernel=250000"}},
                            "\"3-4\", \"60-61\"", "64");

  ASSERT_EQ(run.traces.size(), 2u);
  const SeenTrace& first = run.traces[0].path < run.traces[1].path ? run.traces[0] : run.traces[1];
  const SeenTrace& second = &first == &run.traces[0] ? run.traces[1] : run.traces[0];
  EXPECT_EQ(first.property("problems"), "[]");
  EXPECT_EQ(second.property("problems"), "[]");
}

// After millions of graph nodes, CUPTI's pool of device buffers runs out.
TEST_F(GpuReleases, KernelsWithoutTimesAreCounted) {
  const GpuRun run = record("graphs", {{"FAKE_CUPTI_POOL", "450"}});

  ASSERT_EQ(run.traces.size(), 1u);
  const std::size_t kernels = of_category(run.traces[0], "kernel").size();
  EXPECT_GT(kernels, 0u);
  EXPECT_LT(kernels, 3u * 100u) << "of five kernels for each of 20 launches in a step";
  EXPECT_TRUE(says(run.traces[0], "impossible times")) << run.traces[0].property("problems");
  const std::string losses = run.traces[0].property("gpu_losses");
  EXPECT_NE(losses.find("\"end_before_begin\":1,"), std::string::npos) << losses;
  EXPECT_EQ(losses.find("\"no_time\":0,"), std::string::npos) << losses;
}

}  // namespace
}  // namespace profshim::e2e
