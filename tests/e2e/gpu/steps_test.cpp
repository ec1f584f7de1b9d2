#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "e2e/support/gpu_run.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

const char* const kKernelSteps = "[steps]\nsource = \"kernel\"\npattern = \"*ADAM*\"\n[schedule]\nsteps = [\"3-4\"]\n";
const char* const kProfilerSteps = "[steps]\nsource = \"cuda_profiler_api\"\n";

const char* const kNoWarmUp =
    "[steps]\nsource = \"kernel\"\npattern = \"*adam*\"\n[schedule]\nskip_first = 1\nwait = 2\nwarmup = 0\n"
    "active = 1\nrepeat = 2\n";

void expect_a_late_begin_said(const GpuRun& run) {
  for (const SeenTrace& trace : run.traces) {
    EXPECT_NE(trace.property("problems").find("switched on after a window had begun"), std::string::npos)
        << trace.property("problems");
  }
}

GpuJob launch_loop(const std::string& spec) {
  GpuJob job;
  job.program = "launch_loop";
  job.arguments = {"1000", "100"};
  job.spec = spec;
  return job;
}

TEST(StepsFromKernels, BeginWithTheMatchingKernel) {
  const GpuRun run = run_gpu(launch_loop(kKernelSteps));

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  const SeenTrace& trace = run.traces[0];
  EXPECT_EQ(trace.steps(), (std::vector<std::int64_t>{3, 4}));
  std::map<std::string, int> kernels;
  std::vector<const SeenEvent*> in_order = of_category(trace, "kernel");
  for (const SeenEvent* kernel : in_order) ++kernels[kernel->name.substr(0, kernel->name.find('('))];
  EXPECT_EQ(kernels, (std::map<std::string, int>{{"adam_kernel", 2}, {"tiny_kernel", 200}}));
  const auto first = std::min_element(in_order.begin(), in_order.end(),
                                      [](const SeenEvent* a, const SeenEvent* b) { return a->ts_ns < b->ts_ns; });
  EXPECT_TRUE((*first)->name.starts_with("adam_kernel")) << "the step includes the launch that begins it";
  EXPECT_EQ(run.cupti.at("subscribed"), 0u) << "the subscriber is released at the end";
}

TEST(StepsFromKernels, CostNothingWithOtherStepSources) {
  const GpuRun run = run_gpu(launch_loop(kRecordAll));
  EXPECT_EQ(run.calls("cuptiSubscribe"), 0);
}

TEST(StepsFromKernels, GiveWayToTheJobsOwnCuptiClient) {
  GpuJob job;
  job.program = "cupti_client";
  job.arguments = {"300"};
  job.spec = "[steps]\nsource = \"kernel\"\npattern = \"*kernel*\"\n[schedule]\nskip_first = 0\nwarmup = 1\n";
  const GpuRun with = run_gpu(job);
  job.preload = false;
  const GpuRun without = run_gpu(job);
  EXPECT_EQ(with.outcome.ending(), without.outcome.ending()) << with.outcome.err;
  EXPECT_EQ(with.outcome.out, without.outcome.out) << "the client's session gets the same as without us";
}

// Enabling CUPTI may wait for a callback on another thread.
TEST(StepsFromKernels, LaunchCallbacksDoNotWaitForCuptiToBeEnabled) {
  GpuJob job = launch_loop(kKernelSteps);
  job.environment = {{"FAKE_CUPTI_CALLBACK_LOCK", "1"}, {"FAKE_CUDA_KERNEL_NS", "500000"}};
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_LT(std::stod(run.traces[0].property("stall_us")), 150'000);
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 202u) << "the warm-up leaves enough time";
}

TEST(StepsFromKernels, AWindowWithoutAWarmUpIsWhole) {
  GpuJob job = launch_loop(kNoWarmUp);
  job.environment = {{"FAKE_CUPTI_CALLBACK_LOCK", "1"}, {"FAKE_CUDA_KERNEL_NS", "500000"}};
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 2u) << run.outcome.err;
  for (const SeenTrace& trace : run.traces) {
    EXPECT_EQ(of_category(trace, "kernel").size(), 101u);
    EXPECT_EQ(trace.property("problems"), "[]");
  }
}

TEST(StepsFromKernels, StepsDoNotWaitForASlowCupti) {
  GpuJob job = launch_loop(kNoWarmUp);
  job.environment = {{"FAKE_CUPTI_SLOW_ENABLE_MS", "900"}, {"FAKE_CUDA_KERNEL_NS", "100000"}};
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 2u) << run.outcome.err;
  for (const SeenTrace& trace : run.traces) EXPECT_LT(std::stod(trace.property("stall_us")), 100'000);
}

TEST(StepsFromKernels, WindowThatEndsBeforeCuptiIsEnabledSaysSo) {
  GpuJob job = launch_loop(kNoWarmUp);
  job.environment = {{"FAKE_CUPTI_SLOW_ENABLE_MS", "1500"}, {"FAKE_CUDA_KERNEL_NS", "10000"}};
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 2u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 0u);
  expect_a_late_begin_said(run);
}

TEST(StepsFromProfilerApi, TheRangeIsTheWindow) {
  GpuJob job;
  job.program = "profiler";
  job.spec = kProfilerSteps;
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  std::map<std::string, int> grids;
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) ++grids[kernel->args.at("grid")];
  EXPECT_EQ(grids, (std::map<std::string, int>{{"[3,1,1]", 10}, {"[4,1,1]", 10}}));
  EXPECT_EQ(run.traces[0].property("complete"), "true");
  EXPECT_EQ(run.calls("cuptiSubscribe"), 0) << "cudart is a shared library here, so its symbols suffice";
}

void expect_host_calls(const GpuRun& run) {
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  const SeenTrace& trace = run.traces[0];
  EXPECT_TRUE(of_category(trace, "kernel").empty());
  const long launches = static_cast<long>(trace.calls("cudaLaunchKernel").size());
  // The first call may be missing, because the library notices CUDA by that call.
  EXPECT_GE(launches, run.printed.at("kernels") - 1);
  EXPECT_LE(launches, run.printed.at("kernels"));
  EXPECT_NE(trace.property("problems").find("no GPU activity is recorded"), std::string::npos)
      << trace.property("problems");
  for (const SeenEvent* call : of_category(trace, "cuda_runtime")) {
    EXPECT_EQ(call->args.count("correlation") + call->args.count("stream"), 0u) << call->name;
  }
}

TEST(WithoutCupti, HostCallsAreRecordedAndTheTraceSaysWhatIsMissing) {
  GpuJob job = launch_loop(kRecordAll);
  job.environment = {{"PROFSHIM_CUPTI", "/nonexistent/libcupti.so"}};
  const GpuRun run = run_gpu(job);
  expect_host_calls(run);
  EXPECT_NE(run.outcome.err.find("PROFSHIM_CUPTI cannot be opened: /nonexistent/libcupti.so: "), std::string::npos)
      << run.outcome.err;
}

TEST(WithoutCupti, HostCallsAreRecordedIfAnotherToolHasTheInjection) {
  GpuJob job = launch_loop(kRecordAll);
  job.environment = {{"CUDA_INJECTION64_PATH", "/nonexistent/tool.so"}};
  expect_host_calls(run_gpu(job));
}

TEST(WithoutCupti, TheSpecCanAskForTheHostsCallsOnly) {
  const GpuRun run = run_gpu(launch_loop(std::string(kRecordAll) + "[capture]\ndevice_timing = \"host\"\n"));
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 0u);
  EXPECT_GT(of_category(run.traces[0], "cuda_runtime").size(), 1000u);
  EXPECT_EQ(run.calls("cuptiActivityEnable"), 0);
  EXPECT_EQ(run.traces[0].property("problems"), "[]") << "nothing is missing that the spec asks for";
}

TEST(CuptiDump, KeepsTheBuffersUnchanged) {
  const ScratchFolder scratch;
  const GpuRun run =
      run_gpu(launch_loop(std::string(kRecordAll) + "[debug]\ncupti_dump = \"" + (scratch / "raw") + "\"\n"));

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  const auto files = files_below(scratch / "raw");
  ASSERT_EQ(files.size(), 1u);
  const std::string text = text_of_file((scratch / "raw") + "/" + files[0]);
  EXPECT_TRUE(text.starts_with("profshim-cupti-1"));
  EXPECT_NE(text.find("adam_kernel"), std::string::npos) << "the dump holds the text of each kernel name";
}

}  // namespace
}  // namespace profshim::e2e
