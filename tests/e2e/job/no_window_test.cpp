#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>

#include "e2e/support/built_programs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

TEST(NoWindowReached, SuggestedCommandRecordsAWindow) {
  for (const int steps : {2, 3, 5, 8}) {
    const ScratchFolder scratch;
    const std::string source = "steps.source=collective steps.pattern=MPI_Allreduce";
    const Outcome outcome = run(heat_job(scratch, 1, steps, source));
    std::smatch command;
    const std::string err = outcome.err;
    ASSERT_TRUE(std::regex_search(err, command, std::regex("PROFSHIM_STEPS=([0-9-]+)\n"))) << err;

    Job again = heat_job(scratch, 1, steps, source + " output.overwrite=true");
    again.environment.emplace_back("PROFSHIM_STEPS", command[1]);
    const Outcome recorded = run(again);

    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << command[1] << recorded.err;
    EXPECT_EQ(traces[0].property("complete"), "true") << command[1];
  }
}

TEST(NoWindowReached, OneStepIsReportedAsTooFew) {
  const ScratchFolder scratch;

  const Outcome outcome = run(heat_job(scratch, 1, 1, "steps.source=collective steps.pattern=MPI_Allreduce"));

  EXPECT_EQ(lines_with(outcome, "1 step seen, first window at step 11; at least 2 steps are needed"), 1u)
      << outcome.err;
}

TEST(NoWindowReached, ResumedJobIsToldItsOwnStepNumbers) {
  NEEDS_NVTX();
  struct Case {
    const char *spec, *line;
  };
  const std::string nvtx = "[steps]\nsource = \"nvtx\"\npattern = \"step *\"\n";
  for (const Case& c : {Case{"numbering = \"absolute\"\n[schedule]\nsteps = [\"1100-1102\"]\n",
                             "8 steps seen from step 1003 on, first window at step 1100; this would have recorded:  "
                             "PROFSHIM_STEPS=1005-1007"},
                        Case{"numbering = \"absolute\"\n[schedule]\nskip_first = 9\nwarmup = 0\n",
                             "the schedule's last window is before these steps; this would have recorded:  "
                             "PROFSHIM_STEPS=1005-1007"},
                        Case{"",
                             "8 steps seen from step 1003 on, first window at step 1014; this would have "
                             "recorded:  PROFSHIM_STEPS=2-4"}}) {
    const ScratchFolder scratch;

    const Outcome outcome = run(epochs_job(scratch, {"0", "1", "8", "1003"}, nvtx + c.spec));

    EXPECT_EQ(lines_with(outcome, c.line), 1u) << outcome.err;
  }
}

TEST(NoWindowReached, JobThatNeverStartsMpiIsTold) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 2, {built("tests/apps_limits/" + to_string(mpi) + "/never_starts")});
    job.folder = scratch.path();
    job.environment.emplace_back("PROFSHIM", "1");
    // MPICH's launcher (4.0.2) forwards the end of its input. On a busy machine SIGPIPE kills it, with or without the
    // library, if ranks that never call MPI_Init have ended before. So the input stays open.
    int input[2];
    ASSERT_EQ(pipe2(input, O_CLOEXEC), 0);
    job.before_exec = [&] { dup2(input[0], 0); };

    const Outcome outcome = run(job);

    for (const int end : input) close(end);
    EXPECT_EQ(outcome.ending(), "exit 0") << to_string(mpi);
    EXPECT_EQ(outcome.out, "done\ndone\n");
    ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
    EXPECT_EQ(lines_with(outcome, "is loaded, but this process showed neither a rank nor a step"), 1u) << outcome.err;
    EXPECT_EQ(files_below(scratch.path()), std::vector<std::string>{});
  }
}

TEST(NoWindowReached, LaunchersAndDisabledJobsPrintNothing) {
  const std::string program = built("tests/apps_limits/" + to_string(installed_mpis().front()) + "/never_starts");
  Job launcher{.command = {program, "child"}};
  launcher.environment.emplace_back("PROFSHIM", "1");
  Job off{.command = {program}};
  off.environment.emplace_back("PROFSHIM_SET", "profile.enable=false");

  EXPECT_EQ(run(launcher).err, "");
  EXPECT_EQ(run(off).err, "");
}

}  // namespace
}  // namespace profshim::e2e
