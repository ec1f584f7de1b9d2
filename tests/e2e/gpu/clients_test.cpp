#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

const char* const kCuda133 = "tests/fakes/cuda13.3";

GpuRun client(std::vector<std::string> arguments, std::vector<std::pair<std::string, std::string>> environment = {},
              const std::string& spec = "", bool preload = true, const std::string& program = "cupti_client") {
  GpuJob job;
  job.program = program;
  job.arguments = std::move(arguments);
  job.environment = std::move(environment);
  job.spec = spec;
  job.preload = preload;
  GpuRun run = run_gpu(job);
  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  return run;
}
std::size_t kernels(const GpuRun& run) { return of_category(run.traces.at(0), "kernel").size(); }
bool says(const GpuRun& run, const std::string& text) {
  return run.traces.at(0).property("problems").find(text) != std::string::npos;
}

// torch.profiler._utils._init_for_cuda_graphs makes an empty CUPTI session without a flush.
TEST(GpuClients, WaitForAClientThatNeverFlushesIsBounded) {
  const GpuRun run = client({"300", "1", "noflush"});

  EXPECT_EQ(run.printed.at("errors"), 0);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 200u) << "both other thirds; the client recorded none";
  EXPECT_TRUE(says(run, "another client used CUPTI"));
}

// The library has no hook in a static copy of CUPTI.
TEST(GpuClients, StaticCopyOfCuptiKeepsTheDriverAndIsReported) {
  const std::string steps = "[steps]\nsource = \"cuda_profiler_api\"\n";
  const GpuRun shared = client({"300", "1", "profiler"}, {}, steps);
  const GpuRun copy = client({"300", "1", "profiler"}, {}, steps, true, "cupti_client_static");

  for (const GpuRun* const run : {&shared, &copy}) {
    EXPECT_EQ(run->printed.at("errors"), 0);
    EXPECT_EQ(run->printed.at("session_kernels"), 100);
    EXPECT_EQ(run->printed.at("session_callbacks"), 200);
    ASSERT_EQ(run->traces.size(), 1u) << run->outcome.err;
  }
  EXPECT_EQ(kernels(shared), 100u);
  EXPECT_EQ(shared.traces[0].property("problems"), "[]");
  EXPECT_EQ(kernels(copy), 0u);
  EXPECT_TRUE(says(copy, "a copy of CUPTI in the program itself")) << copy.traces[0].property("problems");
}

TEST(GpuClients, ClientWithCallbacksAloneDoesNotStopRecording) {
  const GpuRun run = client({"300", "1", "callbacks"});

  EXPECT_EQ(run.printed.at("session_callbacks"), 200);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 300u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
}

// Each repeated registration of a clock makes CUPTI report wrong times for one more kernel in all later sessions.
TEST(GpuClients, ClockOfTheClientStaysAndOursIsNotRegisteredAgain) {
  for (const char* const default_clock : {"1", "2"}) {
    SCOPED_TRACE(default_clock);
    const GpuRun run = client({"300", "3", "clock"}, {{"FAKE_CUPTI_HEAD_KERNEL", default_clock}});

    EXPECT_EQ(run.printed.at("session_kernels"), 300);
    EXPECT_EQ(run.calls("cuptiActivityRegisterTimestampCallback"), 4) << "ours first, then those of the client";
    ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
    EXPECT_GE(kernels(run), 200u);
    EXPECT_FALSE(says(run, "impossible times")) << run.traces[0].property("problems");
    std::map<std::string, const SeenEvent*> calls;
    for (const SeenEvent* call : of_category(run.traces[0], "cuda_runtime")) {
      if (call->args.count("correlation") != 0) calls[call->args.at("correlation")] = call;
    }
    std::size_t compared = 0;
    for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) {
      const auto call = calls.find(kernel->args.at("correlation"));
      if (call == calls.end()) continue;
      ++compared;
      EXPECT_GE(kernel->ts_ns + 200'000, call->second->ts_ns);
      EXPECT_LT(kernel->ts_ns, call->second->ts_ns + 60'000'000'000);
    }
    EXPECT_GE(compared, 200u);
  }
}

TEST(GpuClients, WaitForAClientThatNeverRecordsIsBounded) {
  const GpuRun run = client({"300", "1", "registers"});

  EXPECT_EQ(run.printed.at("errors"), 0);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 200u) << "the first third and the last";
}

TEST(GpuClients, ClientThatDisablesOurKindsDoesNotSwitchThemOff) {
  const GpuRun run = client({"300", "1", "disables"});

  EXPECT_EQ(run.printed.at("errors"), 0);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 300u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
}

TEST(GpuClients, RecordingResumesAfterAClientFinalizesCupti) {
  const GpuRun run = client({"300", "1", "finalizes"});

  EXPECT_EQ(run.printed.at("errors"), 0);
  EXPECT_EQ(run.printed.at("session_kernels"), 100);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 200u);
}

// The client's callbacks would get our records, so the library waits until the client has unsubscribed.
TEST(GpuClients, ASubscriberOf132HasCuptiAlone) {
  const std::pair<std::string, std::string> cuda{"LD_LIBRARY_PATH", built("tests/fakes/cuda13.2")};
  const GpuRun run = client({"300"}, {cuda}, "", true, "cupti_subscriber");

  EXPECT_EQ(run.printed.at("errors"), 0);
  EXPECT_EQ(run.printed.at("session_kernels"), 100);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 200u);
  EXPECT_TRUE(says(run, "another client used CUPTI"));
}

// Drivers older than r610 allow one subscriber.
TEST(GpuClients, ASubscriberOf133GetsOurPlaceOnAnOlderDriver) {
  const GpuRun run = client({"300"}, {{"LD_LIBRARY_PATH", built(kCuda133)}, {"FAKE_CUDA_DRIVER", "13000"}}, "", true,
                            "cupti_subscriber");

  EXPECT_EQ(run.printed.at("errors"), 0);
  EXPECT_EQ(run.printed.at("session_kernels"), 100);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 200u);
  EXPECT_TRUE(says(run, "another client used CUPTI"));
}

TEST(GpuClients, ASubscriberOf133RecordsBesideUs) {
  const std::pair<std::string, std::string> cuda{"LD_LIBRARY_PATH", built(kCuda133)};
  const GpuRun run = client({"300"}, {cuda}, "", true, "cupti_subscriber");

  EXPECT_EQ(run.printed.at("errors"), 0);
  EXPECT_EQ(run.printed.at("session_kernels"), 100);
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 300u) << "the third of the client too";
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
  EXPECT_EQ(run.calls("cuptiActivityEnable "), 0);
  EXPECT_GT(run.calls("cuptiActivityEnable_v2"), 0);
}

// While a subscriber exists, CUPTI refuses the per-process functions that Kineto uses.
TEST(GpuClients, ClientThatIsNoSubscriberGetsTheSameOnCupti133) {
  const std::pair<std::string, std::string> cuda{"LD_LIBRARY_PATH", built(kCuda133)};
  // The library records the kernels before the client's sessions, those after a pause that follows the sessions
  // ("noflush", "clock"), and those beside a client that only subscribes ("callbacks").
  const std::pair<const char*, std::size_t> wanted[] = {
      {"", 100}, {"noflush", 200}, {"clock", 200}, {"callbacks", 400}};
  for (const auto& [how, least] : wanted) {
    SCOPED_TRACE(how);
    const GpuRun with = client({"300", "2", how}, {cuda});
    const GpuRun without = client({"300", "2", how}, {cuda}, "", false);
    EXPECT_EQ(without.printed.at("errors"), 0);
    EXPECT_EQ(with.outcome.out, without.outcome.out);
    ASSERT_EQ(with.traces.size(), 1u) << with.outcome.err;
    EXPECT_GE(kernels(with), least);
  }
}

// Recording whole graphs would take the node records from CUPTI's other subscribers.
TEST(GpuClients, GraphsAreRecordedByNodeBesideOtherClients) {
  const std::string spec = std::string(kRecordAll) + "[capture]\ngraphs = \"launches\"\n";
  const GpuRun alone = client({}, {}, spec, true, "graph");
  const GpuRun beside = client({}, {{"LD_LIBRARY_PATH", built(kCuda133)}}, spec, true, "graph");

  ASSERT_EQ(alone.traces.size(), 1u) << alone.outcome.err;
  ASSERT_EQ(beside.traces.size(), 1u) << beside.outcome.err;
  EXPECT_LT(kernels(alone), kernels(beside));
  EXPECT_EQ(alone.traces[0].property("problems"), "[]");
  EXPECT_TRUE(says(beside, "would hide graph nodes")) << beside.traces[0].property("problems");
}

// CUPTI drops the buffers of a subscriber that unsubscribes.
TEST(GpuClients, ASubscribersBuffersAreFlushedAtTheEndOfTheProcess) {
  GpuJob job;
  job.program = "machine";
  job.arguments = {"cut", "40"};
  job.environment = {{"LD_LIBRARY_PATH", built(kCuda133)}, {"FAKE_CUDA_KERNEL_NS", "500000000"}};
  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "signal 15") << run.outcome.err;
  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  long launches = 0;
  for (const SeenEvent* const call : of_category(run.traces[0], "cuda_runtime")) {
    launches += call->name == "cudaLaunchKernel";
  }
  EXPECT_EQ(launches, 40);
  EXPECT_NE(run.traces[0].property("problems"), "[]") << "kernels are missing";
}

TEST(GpuClients, Cupti133HoldsNothingOfOursAfterAWindow) {
  const std::pair<std::string, std::string> cuda{"LD_LIBRARY_PATH", built(kCuda133)};
  const GpuRun run = client({"2000", "100"}, {cuda},
                            "[steps]\nsource = \"kernel\"\npattern = \"*adam*\"\n[schedule]\nsteps = [\"3-4\"]\n", true,
                            "launch_loop");

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  EXPECT_EQ(kernels(run), 202u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
  EXPECT_EQ(run.cupti.at("scope"), 0u) << "neither form is in use";
  EXPECT_EQ(run.cupti.at("subscribed"), 0u);
}

}  // namespace
}  // namespace profshim::e2e
