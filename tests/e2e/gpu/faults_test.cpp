#include <gtest/gtest.h>

#include <map>

#include "e2e/support/gpu_run.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr std::size_t kKernels = 1010;  // of `launch_loop 1000 100`

GpuRun record_with(std::vector<std::pair<std::string, std::string>> faults, bool may_have_nothing = false) {
  GpuJob job;
  job.program = "launch_loop";
  job.arguments = {"1000", "100"};
  job.environment = std::move(faults);
  GpuRun run = run_gpu(job);
  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(run.outcome.out, "kernels 1010\nsyncs 11\nsteps 10\n");
  EXPECT_EQ(run.timeline.size(), kKernels);
  if (!may_have_nothing) {
    EXPECT_EQ(run.traces.size(), 1u) << run.outcome.err;
  }
  if (run.traces.empty()) run.traces.emplace_back();
  return run;
}
std::size_t kernels(const GpuRun& run) { return of_category(run.traces[0], "kernel").size(); }
bool says(const GpuRun& run, const std::string& text) {
  const auto own = run.traces[0].metadata.find("profshim");
  return own != run.traces[0].metadata.end() && own->second.find(text) != std::string::npos;
}

TEST(GpuFaults, RunWithoutFaultsPrintsNoWarning) {
  const GpuRun run = record_with({});

  EXPECT_EQ(kernels(run), kKernels);
  EXPECT_FALSE(says(run, "left out")) << run.traces[0].property("problems");
  EXPECT_FALSE(says(run, "missing")) << run.traces[0].property("problems");
  EXPECT_EQ(run.traces[0].property("complete"), "true");
}

TEST(GpuFaults, DroppedRecordsAreReported) {
  const GpuRun run = record_with({{"FAKE_CUPTI_DROP", "10"}});

  EXPECT_EQ(run.cupti.at("dropped"), 101u);
  EXPECT_EQ(kernels(run), kKernels - 101);
  EXPECT_TRUE(says(run, "CUPTI dropped records")) << run.traces[0].property("problems");
  EXPECT_EQ(run.traces[0].property("complete"), "false");
  EXPECT_NE(run.traces[0].property("missing").find("losses of GPU activity or CUDA calls"), std::string::npos)
      << run.traces[0].property("missing");
}

TEST(GpuFaults, ImpossibleTimesAreLeftOut) {
  for (const char* fault : {"FAKE_CUPTI_ZERO_TIME", "FAKE_CUPTI_BACKWARD", "FAKE_CUPTI_FAR"}) {
    const GpuRun run = record_with({{fault, "10"}});

    EXPECT_EQ(kernels(run), kKernels - 101) << fault;
    EXPECT_TRUE(says(run, "impossible times")) << fault << run.traces[0].property("problems");
  }
}

TEST(GpuFaults, TheOrderOfRecordsDoesNotMatter) {
  const GpuRun run = record_with({{"FAKE_CUPTI_SHUFFLE", "1"}});

  EXPECT_EQ(kernels(run), kKernels);
}

TEST(GpuFaults, LateRecordsAreWaitedFor) {
  const GpuRun run = record_with({{"FAKE_CUPTI_LATE_MS", "30"}});

  EXPECT_EQ(kernels(run), kKernels);
}

TEST(GpuFaults, ActivityOfUnknownLaunchesIsRecordedByItsTime) {
  const GpuRun run = record_with({{"FAKE_CUPTI_UNKNOWN", "10"}});

  EXPECT_EQ(kernels(run), kKernels);
  std::map<std::string, int> flows;
  for (const SeenEvent& event : run.traces[0].events)
    if (event.category == "ac2g") ++flows[event.phase];
  EXPECT_EQ(flows["f"], static_cast<int>(kKernels - 101)) << "a flow has an end without a start";
  EXPECT_EQ(flows["s"], flows["f"]);
}

TEST(GpuFaults, TimesAreConvertedWithoutOurClock) {
  const GpuRun run = record_with({{"FAKE_CUPTI_NO_CLOCK", "1"}});

  EXPECT_EQ(kernels(run), kKernels);
  std::map<std::string, const SeenEvent*> calls;
  for (const SeenEvent* call : of_category(run.traces[0], "cuda_runtime")) calls[call->args.at("correlation")] = call;
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) {
    const auto call = calls.find(kernel->args.at("correlation"));
    ASSERT_NE(call, calls.end());
    EXPECT_GE(kernel->ts_ns + 100000, call->second->ts_ns) << "a kernel begins after its launch has";
  }
}

TEST(GpuFaults, RefusingCuptiLeavesTheJobUnchanged) {
  for (const char* function :
       {"ActivityRegisterCallbacks", "ActivityRegisterTimestampCallback", "ActivityEnable", "ActivitySetAttribute",
        "ActivityFlushAll", "ActivityDisable", "ActivityFlushPeriod", "ActivityGetNumDroppedRecords",
        "PushExternalCorrelationId", "EnableRuntimeApi", "EnableDriverApi"}) {
    SCOPED_TRACE(function);
    // Without a flush, CUPTI may return no record, and an empty trace is not written.
    const bool tells_nothing = std::string(function) == "ActivityFlushAll";
    const GpuRun run = record_with({{"FAKE_CUPTI_FAIL", std::string(function) + "=15"}}, tells_nothing);
    EXPECT_NE(run.outcome.shim_lines().size(), 0u);
    if (tells_nothing) {
      EXPECT_NE(run.outcome.err.find("CUPTI refused a flush"), std::string::npos) << run.outcome.err;
    }
  }
}

// CUPTI 12.4 crashes if it gets null for a buffer.
TEST(GpuFaults, FastCuptiNeverLacksABuffer) {
  GpuJob job;
  job.program = "launch_loop";
  job.arguments = {"200000", "100000"};
  job.cupti = "cuda12/libcupti.so.12";
  job.environment = {{"FAKE_CUDA_KERNEL_NS", "100"}, {"FAKE_CUDA_TIMELINE", "/dev/null"}};
  job.spec = std::string(kRecordAll) + "[limits]\nhost_memory = \"16MiB\"\non_limit = \"drop_new\"\n";
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(run.printed.at("kernels"), 200002);
}

TEST(GpuFaults, EachThreadHasItsOwnBufferEvenOnASmallBudget) {
  GpuJob job;
  job.program = "two_threads";
  job.arguments = {"200", "40"};
  job.cupti = "cuda12/libcupti.so.12";
  job.environment = {{"FAKE_CUPTI_PER_THREAD", "1"}};
  job.spec = std::string(kRecordAll) + "[limits]\nhost_memory = \"16MiB\"\non_limit = \"drop_new\"\n";
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(run.printed.at("kernels"), 16000);
  EXPECT_EQ(run.cupti.at("shared_buffers"), 0u);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_TRUE(says(run, "CUPTI wanted more buffers at a time")) << run.traces[0].metadata.at("profshim");
  std::map<std::string, const Ran*> ran;
  for (const Ran& one : run.timeline) ran[std::to_string(one.correlation)] = &one;
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) {
    ASSERT_EQ(ran.count(kernel->args.at("correlation")), 1u) << kernel->name;
  }
}

TEST(GpuFaults, RefusedCaptureIsReported) {
  const GpuRun run = record_with({{"FAKE_CUPTI_FAIL", "ActivityRegisterCallbacks=35"}});

  EXPECT_EQ(kernels(run), 0u);
  EXPECT_TRUE(says(run, "no GPU activity is recorded")) << run.traces[0].property("problems");
}

TEST(GpuFaults, WithoutADeviceTheProgramGetsItsOwnError) {
  GpuJob job;
  job.program = "launch_loop";
  job.environment = {{"FAKE_CUDA_NO_DEVICE", "1"}};
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 1");
  EXPECT_NE(run.outcome.err.find("no CUDA-capable device is detected"), std::string::npos);
}

TEST(GpuOtherClients, GetTheSameAsWithoutUs) {
  GpuJob job;
  job.program = "cupti_client";
  const GpuRun under = run_gpu(job);
  job.preload = false;
  const GpuRun bare = run_gpu(job);

  EXPECT_EQ(bare.printed.at("session_kernels"), 100);
  EXPECT_EQ(under.outcome.out, bare.outcome.out);
  EXPECT_EQ(under.outcome.ending(), "exit 0") << under.outcome.err;
}

TEST(GpuOtherClients, GetTheSameInASecondSessionWithoutRegisteringAgain) {
  GpuJob job;
  job.program = "cupti_client";
  job.arguments = {"300", "2"};
  const GpuRun under = run_gpu(job);
  job.preload = false;
  const GpuRun bare = run_gpu(job);

  EXPECT_EQ(bare.printed.at("session_kernels"), 200);
  EXPECT_EQ(under.outcome.out, bare.outcome.out);
  EXPECT_EQ(under.outcome.ending(), "exit 0") << under.outcome.err;
}

TEST(GpuOtherClients, GetTheSameHoweverLongAFlushTakes) {
  GpuJob job;
  job.program = "cupti_client";
  job.environment = {{"FAKE_CUPTI_SLOW_FLUSH_MS", "1200"}};
  const GpuRun under = run_gpu(job);
  job.preload = false;
  const GpuRun bare = run_gpu(job);

  EXPECT_EQ(under.outcome.out, bare.outcome.out);
  EXPECT_EQ(under.outcome.ending(), "exit 0") << under.outcome.err;
}

TEST(GpuOtherClients, GetCuptiAndAreReported) {
  GpuJob job;
  job.program = "cupti_client";
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_TRUE(says(run, "another client used CUPTI")) << run.traces[0].metadata.at("profshim");
  EXPECT_GE(of_category(run.traces[0], "kernel").size(), 100u);
  EXPECT_LE(of_category(run.traces[0], "kernel").size(), 200u);
}

TEST(GpuOtherClients, CanAlwaysSubscribe) {
  GpuJob job;
  job.program = "launch_loop";
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.calls("cuptiSubscribe"), 0);
}

}  // namespace
}  // namespace profshim::e2e
