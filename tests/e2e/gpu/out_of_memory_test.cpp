// A failed allocation of device memory: its trace is on disk before the error reaches the job.
#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {
namespace {

/// Windows of steps 2 to 4 and 6 to 8. `failing`: numbers of allocations.
Job steps_that_allocate(const ScratchFolder& scratch, const std::string& failing, bool profile_memory = true) {
  Job job;
  job.command = {built("tests/apps_gpu/out_of_memory"), scratch / "traces"};
  job.folder = scratch.path();
  const std::string cuda = built("tests/fakes/cuda13/libcudart.so.13");
  job.environment = {
      {"LD_LIBRARY_PATH", cuda.substr(0, cuda.rfind('/'))},
      {"FAKE_CUDA_OUT_OF_MEMORY_AT", failing},
      {"PROFSHIM_FOLDER", scratch / "traces"},
      {"PROFSHIM_STEPS", "2-4,6-8"},
      {"PROFSHIM_SET", "output.gzip=false steps.source=nvtx steps.pattern=train_step " +
                           std::string("output.export=chrome_trace,memory_timeline capture.profile_memory=") +
                           (profile_memory ? "true" : "false")}};
  return job;
}

std::vector<const SeenEvent*> failures(const SeenTrace& trace) {
  std::vector<const SeenEvent*> found;
  for (const SeenEvent& event : trace.events)
    if (event.name == "[OutOfMemory]") found.push_back(&event);
  return found;
}

TEST(FailedAllocation, TheTraceAndThePageAreOnDiskBeforeTheJobLearnsOfIt) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Both both = run_both(steps_that_allocate(scratch, "4"));

  EXPECT_EQ(both.without.out, "step 3 error 2 last 2 traces 0 pages 0\n");
  EXPECT_EQ(both.with.out, "step 3 error 2 last 2 traces 1 pages 1\n") << both.with.err;
  EXPECT_EQ(both.with.ending(), both.without.ending());
  EXPECT_NE(both.with.err.find("an allocation of 4096 bytes failed on device 0: "), std::string::npos) << both.with.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << both.with.err;
  const SeenTrace& cut = traces[0];
  EXPECT_EQ(cut.steps(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(cut.property("truncated"), "true");
  EXPECT_EQ(cut.property("limit"), "an allocation of 4096 bytes failed on device 0");
  ASSERT_EQ(failures(cut).size(), 1u);
  EXPECT_EQ(failures(cut)[0]->args.at("Bytes"), "4096");
  EXPECT_EQ(failures(cut)[0]->args.at("Device Id"), "0");
  EXPECT_FALSE(failures(cut)[0]->args.contains("Total Allocated")) << "CUDA tells no totals";
  EXPECT_EQ(cut.calls("cudaMalloc").size(), 2u) << "that of the failure, too";
  EXPECT_EQ(cut.calls("cudaGetDevice").size(), 0u) << "no call of profshim";
  EXPECT_EQ(traces[1].steps(), (std::vector<std::int64_t>{6, 7, 8}));
  EXPECT_EQ(traces[1].property("truncated"), "false");
}

TEST(FailedAllocation, OnlyTheFirstOneClosesAWindow) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(steps_that_allocate(scratch, "4-8"));

  EXPECT_EQ(outcome.ending(), "exit 5") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << outcome.err;
  EXPECT_EQ(traces[1].property("truncated"), "false");
  EXPECT_EQ(traces[1].steps(), (std::vector<std::int64_t>{6, 7, 8}));
  EXPECT_EQ(failures(traces[1]).size(), 2u) << "of steps 6 and 7";
}

TEST(FailedAllocation, WithoutProfilesOfMemoryNothingWaits) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(steps_that_allocate(scratch, "4", false));

  EXPECT_EQ(outcome.out, "step 3 error 2 last 2 traces 0 pages 0\n") << outcome.err;
  for (const SeenTrace& trace : read_folder(scratch / "traces")) EXPECT_EQ(trace.property("truncated"), "false");
}

TEST(FailedAllocation, ARetryOfPytorchsAllocatorIsNone) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = steps_that_allocate(scratch, "4");
  job.command.push_back(built("tests/apps_memory/libc10_cuda.so"));

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << outcome.err;
  EXPECT_EQ(traces[0].property("truncated"), "false");
  EXPECT_EQ(traces[0].steps(), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_TRUE(failures(traces[0]).empty());
}

TEST(FailedAllocation, TheReportOfPytorchsAllocatorCounts) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = steps_that_allocate(scratch, "4-5");
  job.command.push_back(built("tests/apps_memory/libc10_cuda.so"));

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.out, "step 3 error 2 last 2 traces 1 pages 1\n") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << outcome.err;
  EXPECT_EQ(traces[0].property("limit"), "an allocation of 4096 bytes failed on device 0");
  ASSERT_EQ(failures(traces[0]).size(), 1u) << "one event, although two calls failed";
  EXPECT_EQ(failures(traces[0])[0]->args.at("Total Reserved"), std::to_string(2 << 20));
}

}  // namespace
}  // namespace profshim::e2e
