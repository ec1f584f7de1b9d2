#include <gtest/gtest.h>
#include <unistd.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kCalls = 300;

class ProgramChange : public testing::TestWithParam<std::string> {};

TEST_P(ProgramChange, IsThatOfTheProgramAndLeavesAWholeTrace) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job{
        .command = {built("tests/apps_ending/" + to_string(mpi) + "/replaced"), GetParam(), std::to_string(kCalls)}};
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

    const Both both = run_both(job);

    EXPECT_EQ(both.with.ending(), both.without.ending()) << both.with.err;
    EXPECT_EQ(both.with.out, both.without.out) << both.with.err;
    EXPECT_NE(both.with.ending(), "exit 1");
    for (const std::string& file : files_below(scratch / "traces")) EXPECT_EQ(file.find(".spool"), std::string::npos);
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << both.with.err;
    EXPECT_TRUE(traces[0].readable) << traces[0].error;
    EXPECT_EQ(traces[0].calls("MPI_Allreduce").size(), std::size_t{2 * kCalls});
    const bool is_said = both.with.err.find("but the recording has already ended") != std::string::npos;
    EXPECT_EQ(is_said, GetParam() == "refused") << both.with.err;
  }
}
INSTANTIATE_TEST_SUITE_P(Endings, ProgramChange,
                         testing::Values("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve",
                                         "execveat", "daemon", "refused"));

TEST(ProgramChanges, OfPythonLeaveAWholeTrace) {
  const ScratchFolder scratch;
  Job job{.command = {"/usr/bin/python3", "-c",
                      "from mpi4py import MPI\nimport os\n"
                      "for i in range(200): MPI.COMM_WORLD.Barrier()\n"
                      "os.execvp('echo', ['echo', 'the next program'])\n"}};
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

  const Both both = run_both(job);

  expect_same(both);
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << both.with.err;
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 200u);
}

class HandlersOfTheEnd : public testing::TestWithParam<std::string> {};

TEST_P(HandlersOfTheEnd, RunInTheirOrder) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/handlers_in_order"), GetParam()}};
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));

    const Both both = run_both(job);

    EXPECT_EQ(both.with.ending(), both.without.ending()) << both.with.err;
    EXPECT_EQ(both.with.out, both.without.out);
    EXPECT_EQ(read_folder(scratch / "traces").size(), 1u) << both.with.err;
  }
}
INSTANTIATE_TEST_SUITE_P(Endings, HandlersOfTheEnd, testing::Values("exit", "return", "quick_exit"));

}  // namespace
}  // namespace profshim::e2e
