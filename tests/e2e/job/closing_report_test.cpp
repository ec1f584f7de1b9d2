#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

void expect_no_marks(const ScratchFolder& scratch) {
  for (const std::string& file : files_below(scratch / "traces")) {
    EXPECT_EQ(file.find(".said-"), std::string::npos) << file;
  }
}

TEST(ClosingReport, JobPrintsOneLineForWindowsThatALimitClosed) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat_job(scratch, 3, 2000, "steps.source=none limits.trace_size=64KiB"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, "1 of 1 windows closed early"), 1u) << outcome.err;
  EXPECT_EQ(outcome.shim_lines().size(), 2u) << outcome.err;
  expect_no_marks(scratch);
}

TEST(ClosingReport, JobPrintsOneLineWhenTheDiskIsTooFullForAWindow) {
  for (const char* source : {"steps.source=none", "steps.source=collective steps.pattern=MPI_Allreduce"}) {
    const ScratchFolder scratch;

    const Outcome outcome = run(heat_job(scratch, 2, 30, std::string(source) + " limits.disk_free=100000TiB"));

    EXPECT_EQ(outcome.ending(), "exit 0");
    ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
    EXPECT_EQ(lines_with(outcome, "no window is opened: only "), 1u) << outcome.err;
    EXPECT_TRUE(traces_below(scratch / "traces").empty());
    EXPECT_EQ(text_of_file(scratch / "traces/manifest-rank0.json").find("\"status\""), std::string::npos);
    expect_no_marks(scratch);
  }
}

TEST(ClosingReport, HostPrintsOneLineWhenTheFolderCannotBeMade) {
  const ScratchFolder scratch;
  scratch.write("traces", "a file");

  for (const char* ranks : {"all", "1,3"}) {
    Job job = heat_job(scratch, 4, 5, "");
    job.environment.emplace_back("PROFSHIM_RANKS", ranks);

    const Outcome outcome = run(job);

    EXPECT_EQ(outcome.ending(), "exit 0");
    ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
    EXPECT_EQ(lines_with(outcome, "nothing is recorded: "), 1u) << outcome.err;
  }
}

TEST(ClosingReport, JobSaysThatTotalTracesWasReached) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat_job(scratch, 2, 30,
                                       "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=0 "
                                       "schedule.warmup=0 schedule.active=2 schedule.repeat=0 limits.total_traces=3"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(traces_below(scratch / "traces").size(), 6u);
  EXPECT_EQ(lines_with(outcome, "limits.total_traces = 3 was reached"), 1u) << outcome.err;
}

TEST(ClosingReport, CountsWindowsWithoutACompleteStep) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat_job(scratch, 2, 20,
                                       "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=19 "
                                       "schedule.warmup=0 schedule.active=1"));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, "1 of 1 windows hold no complete step"), 1u) << outcome.err;
}

TEST(ClosingReport, CountsNamesThatDidNotFit) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job =
      epochs_job(scratch, {"0", "1", "150000"}, "[steps]\nsource = \"none\"\n[limits]\nhost_memory = \"32MiB\"\n");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, " names of ranges, kernels or files are missing in the traces"), 1u) << outcome.err;
}

TEST(ClosingReport, CountsRangesBeyondTheOpenCallLimit) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(whole_run_job(scratch, Mpi::kOpenMpi, 1, {built("tests/apps_nvtx/nvtx_deep"), "100"}));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, ": 39 calls and ranges were not recorded: too many were open at once"), 1u)
      << outcome.err;
  EXPECT_EQ(outcome.shim_lines().size(), 2u) << outcome.err;
}

TEST(ClosingReport, CountsCommunicatorsThatDidNotFit) {
  const Mpi mpi = installed_mpis().front();
  const ScratchFolder scratch;
  const std::string program = built("tests/apps_limits/" + to_string(mpi) + "/many_communicators");

  const Outcome outcome = run(whole_run_job(scratch, mpi, 1, {program, "70000"}));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, " communicators, types, streams or other metadata are not described in the traces"), 1u)
      << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 70000u);
}

TEST(ClosingReport, CountsOperationsThatDidNotFit) {
  const Mpi mpi = installed_mpis().front();
  const ScratchFolder scratch;
  const std::string program = built("tests/apps_limits/" + to_string(mpi) + "/many_requests");

  const Outcome outcome = run(whole_run_job(scratch, mpi, 2, {program, "70000"}));

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(lines_with(outcome, " non-blocking operations or start/end ranges were not recorded"), 1u) << outcome.err;
}

TEST(ClosingReport, DoesNotCountAnEarlierProcessOfTheRun) {
  const ScratchFolder scratch;
  const std::string program = built("tests/apps_memory/" + to_string(installed_mpis().back()) + "/memory_use");
  // The library notices the size limit milliseconds late, so the program makes many calls.
  Job job = shell(program + " 3000000; " + program + " 3000000");
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=none limits.trace_size=1MiB");
  job.environment.emplace_back("RANK", "0");  // makes this program the launcher of both

  const Outcome outcome = run(job);

  EXPECT_EQ(lines_with(outcome, "1 of 1 windows closed early"), 2u) << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
