// steps.source = "auto" in jobs without markers. scripts/loops.sh runs all jobs of tests/loops.
#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

using Steps = std::vector<std::int64_t>;

Job recorded(const ScratchFolder& scratch, int ranks, const std::vector<std::string>& command) {
  Job job = mpirun(Mpi::kOpenMpi, ranks, command);
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  return job;
}

class Loops : public ::testing::TestWithParam<const char*> {};

TEST_P(Loops, HaveTheRightNumberOfSteps) {
  const std::string file = std::string("tests/loops/") + GetParam();
  if (file.ends_with(".py")) NEEDS_TORCH(1);

  const Outcome outcome = run(shell(
      "cd " PROFSHIM_SOURCE_DIR " && PROFSHIM_LIBRARY=" PROFSHIM_BUILD_DIR "/libprofshim.so scripts/loops.sh " + file));

  EXPECT_NE(outcome.out.find("1 right, 0 wrong"), std::string::npos) << outcome.out << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Real, Loops,
                         ::testing::Values("stencil.c", "cg.c", "pipeline.c", "train.py", "accumulation.py", "gan.py",
                                           "wgan.py", "ppo.py", "evaluate.py", "generate.py", "dqn.py"),
                         [](const auto& job) {
                           std::string name = job.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

// The loop is found later than these steps.
TEST(FoundSteps, KeepWindowsThatHaveBegun) {
  const ScratchFolder scratch;
  Job job = recorded(scratch, 2, {built("tests/apps_loops/openmpi/two_loops"), "0", "40"});
  job.environment.emplace_back("PROFSHIM_STEPS", "2-3");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("steps from collective MPI_Allreduce, 40 seen, confidence high"), std::string::npos)
      << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].steps(), (Steps{2, 3}));
  EXPECT_EQ(traces[0].calls("MPI_Allreduce").size(), 2u);
  EXPECT_EQ(traces[0].calls("MPI_Reduce").size(), 2u);
  EXPECT_EQ(traces[0].property("complete"), "true");
}

TEST(FoundSteps, ComeFromCallsThatTheSpecLeavesOut) {
  const ScratchFolder scratch;
  Job job = recorded(scratch, 2, {built("tests/apps_loops/openmpi/two_loops"), "0", "40"});
  job.environment.emplace_back("PROFSHIM_STEPS", "2-3,32");
  job.environment.emplace_back("PROFSHIM_ACTIVITIES", "nvtx");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << outcome.err;
  for (const SeenTrace& trace : traces) EXPECT_TRUE(trace.calls("MPI_Allreduce").empty());
}

TEST(FoundSteps, AreTheSameOnAllRanks) {
  const ScratchFolder scratch;
  Job job = recorded(scratch, 3, {built("tests/apps_loops/openmpi/uneven_ranks"), "1000"});
  job.environment.emplace_back("PROFSHIM_STEPS", "2-3");
  job.environment.emplace_back("PROFSHIM_RANKS", "all");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 3u) << outcome.err;
  for (const SeenTrace& trace : traces) EXPECT_EQ(trace.property("steps"), traces[0].property("steps"));
  for (const SeenTrace& trace : traces)
    EXPECT_EQ(trace.calls("MPI_Allreduce").size(), traces[0].calls("MPI_Allreduce").size());
}

TEST(FoundSteps, AreThoseOfTheNextLoopOnceALoopHasEnded) {
  const ScratchFolder scratch;
  Job job =
      recorded(scratch, 2, {built("tests/apps_loops/openmpi/two_loops"), "25", "3000", scratch / "traces/step30"});
  job.environment.emplace_back("PROFSHIM_STEPS", "30-32");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("steps from collective MPI_Allreduce, "), std::string::npos) << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].calls("MPI_Allreduce").size(), 3u);
}

TEST(FoundSteps, TakeLittleMemory) {
  const ScratchFolder scratch;
  const std::string script =
      "import time\nfrom mpi4py import MPI\n"
      "for i in range(30): MPI.COMM_WORLD.allreduce(1); time.sleep(0.01)\n"
      "rows = open('/proc/self/smaps').read().split('\\n')\n"
      "at = max(i for i, row in enumerate(rows) if row.endswith('.spool'))\n"
      "print(next(row.split()[1] for row in rows[at:] if row.startswith('Rss:')))\n";
  const auto kilobytes = [&](const std::string& source) {
    Job job = recorded(scratch, 1, {"/usr/bin/python3", "-c", script});
    job.environment.emplace_back("PROFSHIM_SET", "schedule.steps=[5000] output.overwrite=new " + source);
    return std::stol(run(job).out);
  };

  const long told = kilobytes("steps.source=collective steps.pattern=MPI_Allreduce"), found = kilobytes("");

  EXPECT_GT(told, 0);
  EXPECT_LT(found, told + 4096);
}

TEST(FoundSteps, AJobWithoutALoopLeavesATraceWithoutSteps) {
  const ScratchFolder scratch;

  const Outcome outcome = run(recorded(scratch, 2, {built("tests/apps_loops/openmpi/no_loop")}));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("no loop found, so without steps: set steps.source to choose them"), std::string::npos)
      << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_TRUE(traces[0].steps().empty());
  EXPECT_EQ(traces[0].calls("MPI_Allreduce").size() + traces[0].calls("MPI_Bcast").size() +
                traces[0].calls("MPI_Barrier").size() + traces[0].calls("MPI_Reduce").size(),
            300u);
  EXPECT_NE(traces[0].property("problems").find("no loop was found"), std::string::npos);
}

TEST(OperatorSteps, AreThoseThatTheSpecNames) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = shell("exec " + torch_python() + " " PROFSHIM_SOURCE_DIR "/tests/apps_torch/infer.py");
  job.folder = scratch.path();
  job.environment.emplace_back("PROFSHIM_FOLDER", scratch / "traces");
  job.environment.emplace_back("PROFSHIM_SET", "steps.source=torch steps.pattern='aten::linear' schedule.steps=[2,3]");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].steps(), (Steps{2, 3}));
  EXPECT_EQ(traces[0].calls("aten::linear").size(), 2u);
}

}  // namespace
}  // namespace profshim::e2e
