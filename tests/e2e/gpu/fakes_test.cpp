#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

GpuRun run_bare(const std::string& program, std::vector<std::string> arguments = {},
                std::vector<std::pair<std::string, std::string>> environment = {}) {
  GpuJob job;
  job.program = program;
  job.arguments = std::move(arguments);
  job.environment = std::move(environment);
  job.preload = false;
  return run_gpu(job);
}

TEST(FakeGpu, LaunchesOfOneStreamRunInOrder) {
  const GpuRun run = run_bare("launch_loop", {"200", "20"});

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  const auto kernels = run.ran("kernel");
  ASSERT_EQ(kernels.size(), static_cast<std::size_t>(run.printed.at("kernels")));
  EXPECT_EQ(kernels.size(), 210u);
  for (std::size_t i = 1; i < kernels.size(); ++i) EXPECT_GE(kernels[i]->start_ns, kernels[i - 1]->end_ns);
  EXPECT_EQ(kernels.back()->name, "_Z11adam_kernelPfi");
}

TEST(FakeGpu, KernelsTakeTheTimeTheyAreGiven) {
  const GpuRun run =
      run_bare("launch_loop", {"50", "10"}, {{"FAKE_CUDA_KERNEL_NS", "10000"}, {"FAKE_CUDA_KERNELS", "adam=123456"}});

  for (const Ran* kernel : run.ran("kernel"))
    EXPECT_EQ(kernel->end_ns - kernel->start_ns, kernel->name == "_Z11adam_kernelPfi" ? 123456 : 10000);
  EXPECT_GE(run.outcome.seconds, 5 * 0.000123 + 50 * 0.00001) << "waiting for the device really waits";
}

TEST(FakeGpu, CopiesMoveTheirData) {
  const GpuRun run = run_bare("copies", {"5"}, {{"FAKE_CUDA_DEVICES", "2"}});

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.out;
  EXPECT_EQ(run.ran("memcpy").size(), 21u);
  EXPECT_EQ(run.ran("memcpy_peer").size(), 5u);
  EXPECT_EQ(run.ran("memset").size(), 10u);
}

TEST(FakeGpu, EventsOrderTwoStreams) {
  const GpuRun run = run_bare("streams", {"30"});

  EXPECT_EQ(run.printed.at("in_order"), 30);
  const auto kernels = run.ran("kernel");
  ASSERT_EQ(kernels.size(), 60u);
  for (std::size_t i = 0; i < kernels.size(); i += 2) {
    EXPECT_NE(kernels[i]->stream, kernels[i + 1]->stream);
    EXPECT_GE(kernels[i + 1]->start_ns, kernels[i]->end_ns);
  }
}

TEST(FakeGpu, AGraphRunsItsNodes) {
  const GpuRun run = run_bare("graph", {"7"});

  EXPECT_EQ(run.ran("kernel").size(), 21u);
  EXPECT_EQ(run.ran("memset").size(), 7u);
  EXPECT_EQ(run.ran("graph").size(), 7u);
  for (const Ran* kernel : run.ran("kernel")) EXPECT_NE(kernel->graph, 0);
}

TEST(FakeGpu, ProgramsOfTheDriverApiRun) {
  const GpuRun run = run_bare("driver_api", {"25"});

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  EXPECT_EQ(run.ran("kernel").size(), 25u);
}

TEST(FakeGpu, WithoutADeviceProgramsGetTheError) {
  const GpuRun run = run_bare("launch_loop", {"10"}, {{"FAKE_CUDA_NO_DEVICE", "1"}});

  EXPECT_EQ(run.outcome.ending(), "exit 1");
  EXPECT_NE(run.outcome.err.find("no CUDA-capable device is detected"), std::string::npos);
}

TEST(FakeGpu, ProgramsBuiltByNvccRunUnmodified) {
  for (const char* program : {"launch_loop", "copies", "streams", "graph", "two_threads", "memory", "late"}) {
    if (access((std::string(PROFSHIM_BUILD_DIR) + "/tests/apps_gpu/nvcc/" + program).c_str(), X_OK) != 0)
      GTEST_SKIP() << "nvcc is not installed";
    const GpuRun theirs = run_bare(std::string("nvcc/") + program), ours = run_bare(program);
    EXPECT_EQ(theirs.outcome.ending(), "exit 0") << program << theirs.outcome.err;
    EXPECT_EQ(theirs.outcome.out, ours.outcome.out) << program;
    ASSERT_EQ(theirs.timeline.size(), ours.timeline.size()) << program;
    std::vector<std::string> names[2];
    for (const Ran& ran : theirs.timeline) names[0].push_back(ran.kind + ran.name);
    for (const Ran& ran : ours.timeline) names[1].push_back(ran.kind + ran.name);
    for (auto& list : names) std::sort(list.begin(), list.end());
    EXPECT_EQ(names[0], names[1]) << program;
  }
}

TEST(FakeCupti, ClientGetsTheRecordsOfItsSessionOnly) {
  const GpuRun run = run_bare("cupti_client", {"300"});

  EXPECT_EQ(run.printed.at("subscribe"), 0);
  EXPECT_EQ(run.printed.at("errors"), 0);
  EXPECT_EQ(run.printed.at("session_kernels"), 100);
  EXPECT_EQ(run.printed.at("session_calls"), 101);
  EXPECT_EQ(run.printed.at("session_callbacks"), 200);
  EXPECT_EQ(run.cupti.at("requested"), run.cupti.at("completed"));
  EXPECT_EQ(run.left_enabled, std::vector<int>{});
  EXPECT_EQ(run.cupti.at("subscribed"), 0u);
}

TEST(FakeCupti, AllowsOneSubscriber) {
  const GpuRun run = run_bare("cupti_client", {"30"}, {{"FAKE_CUPTI_SUBSCRIBED", "1"}});

  EXPECT_EQ(run.printed.at("subscribe"), 39);
}

TEST(FakeCupti, DropsTheRecordsThatTheTestNames) {
  const GpuRun run = run_bare("cupti_client", {"300"}, {{"FAKE_CUPTI_DROP", "10"}});

  EXPECT_EQ(run.printed.at("session_kernels"), 90);
  EXPECT_EQ(run.cupti.at("dropped"), 10u);
}

TEST(FakeNccl, CollectivesOfSeveralProcessesEndTogether) {
  const ScratchFolder scratch;
  const std::string fakes = built("tests/fakes/cuda13/libcudart.so.13");
  Job job = shell("for r in 0 1 2 3; do RANK=$r FAKE_CUDA_TIMELINE=$PWD/t$r " + built("tests/apps_gpu/ddp") +
                  " 5 & done; wait; grep -h AllReduce t?");
  job.preload = false;
  job.folder = scratch.path();
  job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                     {"WORLD_SIZE", "4"},
                     {"DDP_ID_FILE", scratch / "id"},
                     {"FAKE_CUDA_DEVICES", "4"}};
  const Outcome outcome = run(job);

  std::vector<std::int64_t> ends[4];
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string kind;
    std::int64_t start = 0, end = 0;
    int device = 0;
    if (line.rfind("kernel ", 0) == 0 && fields >> kind >> start >> end >> device) ends[device].push_back(end);
  }
  ASSERT_EQ(ends[0].size(), 20u) << outcome.out << outcome.err;
  for (int rank = 1; rank < 4; ++rank) EXPECT_EQ(ends[rank], ends[0]) << rank;
}

}  // namespace
}  // namespace profshim::e2e
