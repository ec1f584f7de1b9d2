// The example for an MPI and CUDA program in a CI.
#include <gtest/gtest.h>

#include <filesystem>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "example_jobs.h"

namespace profshim::e2e {
namespace {

TEST(ExampleOfMpi, EachRankHasItsTwoWindowsAndTheChecksOfTheCiHold) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 4, {built("tests/apps_examples/heat_gpu"), "--steps", "40"});
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_SPEC", write_example(scratch, "mpi-ci.toml", {}));
  job.environment.emplace_back("LD_LIBRARY_PATH", fake_cuda_folder());

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "profile-out");
  ASSERT_EQ(traces.size(), 8u) << outcome.err;
  for (const SeenTrace& trace : traces) {
    SCOPED_TRACE(trace.path);
    const bool is_first = trace.path.ends_with("/rank" + std::to_string(trace.rank()) + ".w0.pt.trace.json");
    EXPECT_EQ(trace.steps(),
              (is_first ? std::vector<std::int64_t>{4, 5, 6, 7, 8} : std::vector<std::int64_t>{10, 11, 12, 13, 14}));
    EXPECT_EQ(trace.property("rank_source"), "mpi");
    EXPECT_EQ(kernels_of(trace), (std::map<std::string, int>{{"stencil_kernel", 5}}));
    EXPECT_EQ(trace.calls("MPI_Allreduce").size(), 5u);
    EXPECT_EQ(trace.calls("MPI_Sendrecv_replace").at(0)->args.at("bytes"), "2048") << "capture.record_shapes";
    int in_memory = 0;
    for (const SeenEvent& event : trace.events) in_memory += event.name == "[memory]";
    EXPECT_EQ(in_memory, 10) << "an allocation and a release in each step";
    const std::string name = trace.path.substr(0, trace.path.size() - std::string(".pt.trace.json").size());
    EXPECT_TRUE(std::filesystem::exists(name + ".memory.html"));
  }

  const std::string spec = scratch / "mpi-ci.toml", folder = scratch / "profile-out";
  const Outcome verified = profshim({"verify", "--quiet", "--spec", spec, folder});
  EXPECT_EQ(verified.ending(), "exit 0") << verified.out;
  std::filesystem::create_directories(scratch / "ci");
  const std::string in_scratch = "cd " + scratch.path() + " && " + tool_path() + " compare ";
  EXPECT_EQ(run(shell(in_scratch + "--update-baseline ci/baseline.json profile-out")).ending(), "exit 0");
  const Outcome compared = run(shell(in_scratch + "--spec mpi-ci.toml profile-out"));
  EXPECT_EQ(compared.ending(), "exit 0") << compared.out << compared.err;
  std::vector<std::string> merge = {"merge", "-o", scratch / "all.json"};
  for (int rank = 0; rank < 4; ++rank) merge.push_back(folder + "/rank" + std::to_string(rank) + ".w0.pt.trace.json");
  EXPECT_EQ(profshim(merge).ending(), "exit 0");
}

}  // namespace
}  // namespace profshim::e2e
