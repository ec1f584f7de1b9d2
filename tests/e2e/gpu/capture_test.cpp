#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <set>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

/// The parameter is the fake CUPTI. CUPTI 13.0, 12.4 and 11.8 differ in records and functions.
class GpuCapture : public testing::TestWithParam<const char*> {
 protected:
  GpuRun record(const std::string& program, std::vector<std::string> arguments = {},
                std::vector<std::pair<std::string, std::string>> environment = {}, const std::string& spec = "") {
    GpuJob job;
    job.program = program;
    job.arguments = std::move(arguments);
    job.environment = std::move(environment);
    job.spec = spec;
    job.cupti = GetParam();
    GpuRun run = run_gpu(job);
    EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
    EXPECT_EQ(run.traces.size(), 1u) << run.outcome.err;
    if (run.traces.empty()) run.traces.emplace_back();
    return run;
  }
};

std::size_t names(const std::vector<const SeenEvent*>& events, const std::string& name) {
  std::size_t count = 0;
  for (const SeenEvent* event : events) count += event->name == name;
  return count;
}

void expect_same_work(const GpuRun& run, const std::string& kind, const std::string& category) {
  std::map<std::string, std::vector<const SeenEvent*>> by_correlation;
  const auto events = of_category(run.traces[0], category);
  for (const SeenEvent* event : events) by_correlation[event->args.at("correlation")].push_back(event);
  const auto ran = run.ran(kind);
  ASSERT_EQ(events.size(), ran.size()) << category;
  std::map<std::string, std::size_t> next;
  for (const Ran* one : ran) {
    const std::string correlation = std::to_string(one->correlation);
    const auto& candidates = by_correlation[correlation];
    ASSERT_GT(candidates.size(), next[correlation]) << category << " of correlation " << correlation;
    const SeenEvent& event = *candidates[next[correlation]++];
    EXPECT_NEAR(static_cast<double>(event.duration_ns), static_cast<double>(one->end_ns - one->start_ns),
                2000 + 0.01 * static_cast<double>(one->end_ns - one->start_ns))
        << event.name;
    EXPECT_EQ(event.args.at("stream"), std::to_string(one->stream));
    EXPECT_EQ(event.args.at("device"), std::to_string(one->device));
    if (kind != "kernel") {
      EXPECT_EQ(event.args.at("bytes"), std::to_string(one->bytes));
    }
  }
}

void expect_launched(const SeenTrace& trace) {
  std::set<std::string> launched;
  for (const char* category : {"cuda_runtime", "cuda_driver"})
    for (const SeenEvent* call : of_category(trace, category)) launched.insert(call->args.at("correlation"));
  for (const char* category : {"kernel", "gpu_memcpy", "gpu_memset"})
    for (const SeenEvent* work : of_category(trace, category))
      EXPECT_EQ(launched.count(work->args.at("correlation")), 1u) << work->name;
}

TEST_P(GpuCapture, RecordsEveryLaunchAndKernelOfALoop) {
  const GpuRun run = record("launch_loop", {"500", "50"});

  expect_same_work(run, "kernel", "kernel");
  const auto kernels = of_category(run.traces[0], "kernel");
  EXPECT_EQ(kernels.size(), static_cast<std::size_t>(run.printed.at("kernels")));
  EXPECT_EQ(names(kernels, "tiny_kernel(float*, int)"), 500u);
  EXPECT_EQ(names(kernels, "adam_kernel(float*, int)"), 10u);
  const auto calls = of_category(run.traces[0], "cuda_runtime");
  EXPECT_EQ(names(calls, "cudaLaunchKernel"), 510u);
  EXPECT_EQ(names(calls, "cudaDeviceSynchronize"), static_cast<std::size_t>(run.printed.at("syncs")));
  EXPECT_EQ(of_category(run.traces[0], "cuda_driver").size(), 0u) << "one launch event per correlation";
  expect_launched(run.traces[0]);
}

TEST_P(GpuCapture, KernelsHaveTheirLaunchShape) {
  const GpuRun run = record("launch_loop", {"10", "10"});

  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) {
    const bool adam = kernel->name == "adam_kernel(float*, int)";
    EXPECT_EQ(kernel->args.at("grid"), adam ? "[8,1,1]" : "[4,1,1]");
    EXPECT_EQ(kernel->args.at("block"), adam ? "[128,1,1]" : "[64,1,1]");
    EXPECT_EQ(kernel->args.at("context"), "1");
  }
}

TEST_P(GpuCapture, RecordsEveryMemcpyAndMemset) {
  const GpuRun run = record("copies", {"10"}, {{"FAKE_CUDA_DEVICES", "2"}});

  const auto copies = of_category(run.traces[0], "gpu_memcpy");
  EXPECT_EQ(copies.size(), static_cast<std::size_t>(run.printed.at("copies") + run.printed.at("peer")));
  EXPECT_EQ(names(copies, "Memcpy HtoD (Pageable -> Device)"), 10u);
  EXPECT_EQ(names(copies, "Memcpy DtoH (Device -> Pinned)"), 10u);
  EXPECT_EQ(names(copies, "Memcpy DtoD (Device -> Device)"), 10u);
  expect_same_work(run, "memset", "gpu_memset");
  expect_launched(run.traces[0]);
  std::int64_t bytes = 0;
  for (const SeenEvent* copy : copies)
    if (copy->name.find("PtoP") == std::string::npos) bytes += std::stoll(copy->args.at("bytes"));
  EXPECT_EQ(bytes, run.printed.at("bytes"));
}

TEST_P(GpuCapture, RecordsTwoStreamsAndTheirEvents) {
  const GpuRun run = record("streams", {"40"});

  expect_same_work(run, "kernel", "kernel");
  const auto calls = of_category(run.traces[0], "cuda_runtime");
  EXPECT_EQ(names(calls, "cudaStreamWaitEvent"), static_cast<std::size_t>(run.printed.at("waits")));
  EXPECT_EQ(names(calls, "cudaEventSynchronize"), 40u);
  EXPECT_EQ(names(calls, "cudaEventRecord"), 120u);
  expect_launched(run.traces[0]);
}

// The first call of the program makes a stream. CUPTI is ready a tenth of a second later.
TEST_P(GpuCapture, FirstCallWaitsAndTheTraceTellsSinceWhenItHasCalls) {
  const GpuRun run = record("streams", {"4"}, {{"FAKE_CUDA_THREAD_INIT_MS", "100"}});

  const auto calls = of_category(run.traces[0], "cuda_runtime");
  EXPECT_EQ(names(calls, "cudaEventRecord"), 12u);
  EXPECT_EQ(run.traces[0].property("problems"), "[]");
  const std::string after_us = run.traces[0].property("gpu_recorded_after_us");
  ASSERT_EQ(after_us.substr(0, 1), "[") << "it is not told";
  EXPECT_GT(std::atol(after_us.c_str() + 1), 0);
}

TEST_P(GpuCapture, RecordsEveryNodeOfAGraph) {
  const GpuRun run = record("graph", {"15"});

  expect_same_work(run, "kernel", "kernel");
  expect_same_work(run, "memset", "gpu_memset");
  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), static_cast<std::size_t>(run.printed.at("kernels")));
  EXPECT_EQ(names(of_category(run.traces[0], "cuda_runtime"), "cudaGraphLaunch"), 15u);
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) {
    EXPECT_NE(kernel->args.at("graph id"), "0");
    EXPECT_NE(kernel->args.at("graph node id"), "0");
  }
  expect_launched(run.traces[0]);
}

TEST_P(GpuCapture, RecordsWholeGraphsIfTheSpecSaysSo) {
  const GpuRun run = record("graph", {"15"}, {}, std::string(kRecordAll) + "[capture]\ngraphs = \"launches\"\n");

  EXPECT_EQ(names(of_category(run.traces[0], "kernel"), "first_kernel(float*, int)"), 0u);
  EXPECT_EQ(of_category(run.traces[0], "gpu_memset").size(), 0u);
  std::size_t graphs = 0;
  for (const SeenEvent& event : run.traces[0].events)
    graphs += event.phase == "X" && event.args.count("correlation") && event.args.count("graph id");
  EXPECT_EQ(graphs, 15u);
}

TEST_P(GpuCapture, CallsOfTwoThreadsLieOnTheirThreads) {
  const GpuRun run = record("two_threads", {"300", "1", "ids"});

  EXPECT_EQ(run.traces[0].property("problems"), "[]")
      << "buffers of threads that come after the device's buffer are no problem";
  expect_same_work(run, "kernel", "kernel");
  std::map<std::string, std::string> kernel_of;
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel"))
    kernel_of[kernel->args.at("correlation")] = kernel->name;
  std::map<std::string, std::set<std::int64_t>> threads;
  std::map<std::string, int> launches;
  for (const SeenEvent* call : of_category(run.traces[0], "cuda_runtime")) {
    if (call->name != "cudaLaunchKernel") continue;
    const std::string& kernel = kernel_of[call->args.at("correlation")];
    threads[kernel].insert(call->tid);
    ++launches[kernel];
  }
  const std::string left = "left_kernel(float*, int)", right = "right_kernel(float*, int)";
  EXPECT_EQ(launches[left], 300);
  EXPECT_EQ(launches[right], 300);
  ASSERT_EQ(threads[left].size(), 1u);
  ASSERT_EQ(threads[right].size(), 1u);
  EXPECT_EQ(*threads[left].begin(), run.printed.at("left_thread"));
  EXPECT_EQ(*threads[right].begin(), run.printed.at("right_thread"));
}

TEST_P(GpuCapture, RecordsAllocationsIfTheSpecSaysSo) {
  const GpuRun run = record("memory", {"20"}, {}, std::string(kRecordAll) + "[capture]\nprofile_memory = true\n");

  std::size_t allocations = 0, releases = 0;
  for (const SeenEvent& event : run.traces[0].events) {
    if (event.name != "[memory]") continue;
    (event.args.at("Bytes")[0] == '-' ? releases : allocations) += 1;
  }
  EXPECT_EQ(allocations, static_cast<std::size_t>(run.printed.at("allocations")));
  EXPECT_EQ(releases, static_cast<std::size_t>(run.printed.at("releases")));
}

TEST_P(GpuCapture, RecordsProgramsOfTheDriverApi) {
  const GpuRun run = record("driver_api", {"60"});

  expect_same_work(run, "kernel", "kernel");
  expect_same_work(run, "memcpy", "gpu_memcpy");
  EXPECT_EQ(names(of_category(run.traces[0], "cuda_driver"), "cuLaunchKernel"), 60u);
  expect_launched(run.traces[0]);
}

TEST_P(GpuCapture, LeavesTheProgramUnchanged) {
  for (const char* program : {"launch_loop", "copies", "streams", "graph", "two_threads", "memory", "driver_api"}) {
    GpuJob job;
    job.program = program;
    job.cupti = GetParam();
    const GpuRun under = run_gpu(job);
    job.preload = false;
    const GpuRun bare = run_gpu(job);
    EXPECT_EQ(under.outcome.out, bare.outcome.out) << program;
    EXPECT_EQ(under.outcome.ending(), bare.outcome.ending()) << program;
    EXPECT_EQ(under.timeline.size(), bare.timeline.size()) << program;
  }
}

TEST_P(GpuCapture, CuptiReturnsEveryBuffer) {
  const GpuRun run = record("launch_loop", {"100000", "1000"});

  EXPECT_EQ(of_category(run.traces[0], "kernel").size(), 100100u);
  EXPECT_EQ(run.cupti.at("requested"), run.cupti.at("completed"));
  EXPECT_EQ(run.cupti.at("dropped"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Versions, GpuCapture, testing::Values("", "cuda12/libcupti.so.12", "cuda11/libcupti.so.11.8"),
                         [](const testing::TestParamInfo<const char*>& version) {
                           return std::string(version.index == 0   ? "Cupti13"
                                              : version.index == 1 ? "Cupti12"
                                                                   : "Cupti11");
                         });

TEST(GpuTrace, PassesVerify) {
  const ScratchFolder scratch;
  const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13");
  for (const char* program : {"launch_loop", "copies", "streams", "graph", "two_threads", "driver_api", "ddp"}) {
    Job job;
    job.command = {built(std::string("tests/apps_gpu/") + program)};
    job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                       {"RANK", "0"},
                       {"WORLD_SIZE", "1"},
                       {"DDP_ID_FILE", scratch / "id"},
                       {"PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / program))}};
    EXPECT_EQ(run(job).ending(), "exit 0") << program;
    const auto traces = traces_below(scratch / program);
    ASSERT_EQ(traces.size(), 1u) << program;
    const Outcome verdict = profshim({"verify", traces[0]});
    EXPECT_EQ(verdict.ending(), "exit 0") << program << "\n" << verdict.out << verdict.err;
  }
}

TEST(GpuTrace, ProgramsBuiltByNvccAreRecorded) {
  if (access((std::string(PROFSHIM_BUILD_DIR) + "/tests/apps_gpu/nvcc/launch_loop").c_str(), X_OK) != 0)
    GTEST_SKIP() << "nvcc is not installed";
  GpuJob job;
  job.program = "nvcc/launch_loop";
  job.arguments = {"300", "30"};
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  expect_same_work(run, "kernel", "kernel");
  EXPECT_EQ(names(of_category(run.traces[0], "cuda_runtime"), "cudaLaunchKernel"), 310u)
      << "not __cudaLaunchKernel_v13000";
}

TEST(GpuTrace, NcclCollectivesHaveTheirKernels) {
  GpuJob job;
  job.program = "ddp";
  job.arguments = {"6"};
  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  expect_same_work(run, "kernel", "kernel");
  expect_same_work(run, "memcpy", "gpu_memcpy");
  std::size_t collectives = 0;
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) {
    if (kernel->name.find("ncclDevKernel_AllReduce") == std::string::npos) continue;
    ++collectives;
    EXPECT_EQ(kernel->args.count("Collective name"), 1u);
    EXPECT_EQ(kernel->args.count("dtype"), 1u);
  }
  EXPECT_EQ(collectives, 24u);
}

// NCCL launches its kernels inside ncclAllReduce(), which has a stack.
TEST(StacksOfLaunches, HaveTheTimeOfTheKernels) {
  GpuJob job;
  job.program = "ddp";
  job.arguments = {"4"};
  job.spec = std::string(kRecordAll) + "[capture]\nnative_stack = true\n";
  job.environment = {{"PROFSHIM_SET", "output.export=['chrome_trace','stacks']"}};

  const GpuRun run = run_gpu(job);

  ASSERT_EQ(run.traces.size(), 1u) << run.outcome.err;
  double kernels_us = 0;
  for (const SeenEvent* kernel : of_category(run.traces[0], "kernel")) {
    if (kernel->name.starts_with("nccl")) kernels_us += static_cast<double>(kernel->duration_ns) / 1000;
  }
  ASSERT_GT(kernels_us, 0);
  double stacks_us = 0;
  std::istringstream lines(run.stacks);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_NE(line.find("main"), std::string::npos) << line;
    stacks_us += std::stod(line.substr(line.rfind(' ')));
  }
  EXPECT_NEAR(stacks_us, kernels_us, 5) << run.stacks;
}

}  // namespace
}  // namespace profshim::e2e
