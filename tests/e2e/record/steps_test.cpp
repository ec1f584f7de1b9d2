#include <gtest/gtest.h>

#include <algorithm>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

using Steps = std::vector<std::int64_t>;

struct HeatRun {
  Outcome outcome;
  std::vector<SeenTrace> traces;
};

HeatRun run_heat(const std::string& spec, int steps, int ranks = 1) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, ranks, {built("demo/heat"), std::to_string(steps), "64"});
  job.environment.emplace_back("PROFSHIM_SPEC",
                               scratch.write("s.toml", "version = 1\n" + spec + "\n[output]\nfolder = \"" +
                                                           (scratch / "traces") + "\"\ngzip = false\n"));
  job.folder = scratch.path();
  HeatRun result;
  result.outcome = run(job);
  result.traces = read_folder(scratch / "traces");
  std::sort(result.traces.begin(), result.traces.end(), [](const SeenTrace& a, const SeenTrace& b) {
    return (a.steps().empty() ? 0 : a.steps()[0]) < (b.steps().empty() ? 0 : b.steps()[0]);
  });
  EXPECT_EQ(result.outcome.ending(), "exit 0") << result.outcome.err;
  return result;
}

const char* const kNvtx = "[steps]\nsource = \"nvtx\"\npattern = \"iteration *\"\n";
const char* const kSymbol = "[steps]\nsource = \"symbol\"\npattern = \"heat_step\"\n";
const char* const kCollective = "[steps]\nsource = \"collective\"\npattern = \"MPI_Allreduce\"\n";

using StepsFromNvtx = NeedsNvtx;
using StepsFromAuto = NeedsNvtx;

TEST_F(StepsFromNvtx, DefaultScheduleRecordsSteps11To13) {
  const HeatRun heat = run_heat(kNvtx, 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{11, 12, 13}));
  EXPECT_EQ(heat.traces[0].property("complete"), "true");
}

TEST_F(StepsFromNvtx, WindowHoldsWholeStepsOnly) {
  const HeatRun heat = run_heat(kNvtx, 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  const SeenTrace& trace = heat.traces[0];
  EXPECT_EQ(trace.calls("MPI_Allreduce").size(), 3u);
  EXPECT_EQ(trace.calls("MPI_Isend").size(), 6u);
  EXPECT_EQ(trace.calls("MPI_Waitall").size(), 3u);
  for (const char* range : {"iteration 11", "iteration 12", "iteration 13"})
    EXPECT_EQ(trace.calls(range).size(), 1u) << range;
  for (const char* range : {"iteration 10", "iteration 14"}) EXPECT_EQ(trace.calls(range).size(), 0u) << range;
  for (const char* range : {"halo", "stencil", "residual"}) EXPECT_EQ(trace.calls(range).size(), 3u) << range;
}

TEST_F(StepsFromNvtx, TheStepBeginsWithItsRange) {
  const HeatRun heat = run_heat(kNvtx, 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  for (int step = 11; step <= 13; ++step) {
    const auto range = heat.traces[0].calls("iteration " + std::to_string(step));
    const auto profiled = heat.traces[0].calls("ProfilerStep#" + std::to_string(step));
    ASSERT_EQ(range.size(), 1u);
    ASSERT_GE(profiled.size(), 1u);
    EXPECT_EQ(range[0]->ts_ns, profiled[0]->ts_ns) << "step " << step;
  }
}

TEST_F(StepsFromNvtx, RepeatsAsTorchDoes) {
  const HeatRun heat =
      run_heat(std::string(kNvtx) + "[schedule]\nskip_first = 2\nwait = 1\nwarmup = 1\nactive = 2\nrepeat = 3\n", 20);

  ASSERT_EQ(heat.traces.size(), 3u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{4, 5}));
  EXPECT_EQ(heat.traces[1].steps(), (Steps{8, 9}));
  EXPECT_EQ(heat.traces[2].steps(), (Steps{12, 13}));
}

TEST_F(StepsFromNvtx, AListMakesOneWindowForEachRun) {
  const HeatRun heat = run_heat(std::string(kNvtx) + "[schedule]\nsteps = [1, 3, \"7-9\"]\n", 20);

  ASSERT_EQ(heat.traces.size(), 3u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{1}));
  EXPECT_EQ(heat.traces[1].steps(), (Steps{3}));
  EXPECT_EQ(heat.traces[2].steps(), (Steps{7, 8, 9}));
}

TEST_F(StepsFromNvtx, AWindowOpenAtTheEndIsMarkedIncomplete) {
  const HeatRun heat = run_heat(std::string(kNvtx) + "[schedule]\nskip_first = 5\nwarmup = 1\nactive = 10\n", 9);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].property("complete"), "false");
  EXPECT_EQ(heat.traces[0].steps(), (Steps{6, 7, 8}));
}

TEST_F(StepsFromNvtx, NoWindowReachedIsReportedInOneSentence) {
  const HeatRun heat = run_heat(kNvtx, 8);

  EXPECT_TRUE(heat.traces.empty());
  ASSERT_EQ(heat.outcome.shim_lines().size(), 1u) << heat.outcome.err;
  EXPECT_NE(heat.outcome.shim_lines()[0].find("no window was reached: 8 steps seen, first window at step 11"),
            std::string::npos)
      << heat.outcome.err;
}

TEST(Steps, ARunThatEndsWhereAWindowBeginsWritesNoFile) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 1, {built("tests/apps_ending/openmpi/ending"), "return", "10"});
  job.environment.emplace_back(
      "PROFSHIM_SPEC",
      scratch.write("s.toml",
                    "version = 1\n[steps]\nsource = \"collective\"\npattern = \"MPI_Barrier\"\nedge = \"end\"\n"
                    "[schedule]\nskip_first = 1\nwarmup = 0\nactive = 1\n[output]\nfolder = \"" +
                        (scratch / "traces") + "\"\n"));

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(traces_below(scratch / "traces"), std::vector<std::string>{});
}

TEST(StepsFromASymbol, CountTheCallsOfTheFunction) {
  const HeatRun heat = run_heat(kSymbol, 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{11, 12, 13}));
  EXPECT_EQ(heat.traces[0].calls("MPI_Allreduce").size(), 3u);
}

TEST(StepsFromASymbol, SeeEachStepOfAShortRun) {
  const HeatRun heat = run_heat(std::string(kSymbol) + "[schedule]\nskip_first = 0\nwarmup = 0\nactive = 7\n", 7);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{0, 1, 2, 3, 4, 5, 6}));
}

TEST(StepsFromASymbol, MissingSymbolIsReported) {
  const HeatRun heat = run_heat("[steps]\nsource = \"symbol\"\npattern = \"no_such_function\"\n", 20);

  ASSERT_FALSE(heat.outcome.shim_lines().empty());
  EXPECT_NE(heat.outcome.err.find("no_such_function"), std::string::npos) << heat.outcome.err;
  EXPECT_LE(heat.outcome.shim_lines().size(), 3u) << heat.outcome.err;
}

TEST(StepsFromACollective, CountItsCalls) {
  const HeatRun heat = run_heat(kCollective, 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{11, 12, 13}));
  EXPECT_EQ(heat.traces[0].calls("MPI_Allreduce").size(), 3u);
}

TEST(StepsFromACollective, CountEveryNthCall) {
  const HeatRun heat =
      run_heat(std::string(kCollective) + "every = 4\n[schedule]\nskip_first = 1\nwarmup = 0\nactive = 2\n", 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{1, 2}));
  EXPECT_EQ(heat.traces[0].calls("MPI_Allreduce").size(), 8u);
}

RUNS_ALONE(StepsFromTime.*);

TEST(StepsFromTime, AreRecorded) {
  const HeatRun heat = run_heat(
      "[steps]\nsource = \"time\"\nevery_ms = 20\n[schedule]\nskip_first = 1\nwarmup = 1\nactive = 3\n", 30000);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{2, 3, 4}));
}

TEST(StepsFromTime, BeginWithTheJob) {
  const HeatRun heat = run_heat(
      "[steps]\nsource = \"time\"\nevery_ms = 10000000\n[schedule]\nskip_first = 0\nwarmup = 0\nactive = 1\n", 30000);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{0}));
}

TEST(StepsFromNone, RecordTheWholeRun) {
  const HeatRun heat = run_heat("[steps]\nsource = \"none\"\n", 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].calls("MPI_Allreduce").size(), 20u);
  EXPECT_EQ(heat.traces[0].calls("MPI_Bcast").size(), 1u);
  EXPECT_EQ(heat.traces[0].calls("MPI_Gather").size(), 1u);
}

TEST_F(StepsFromAuto, FindAWellKnownRange) {
  const HeatRun heat = run_heat("", 20);

  ASSERT_EQ(heat.traces.size(), 1u) << heat.outcome.err;
  EXPECT_EQ(heat.traces[0].steps(), (Steps{11, 12, 13}));
}

TEST(Steps, AllRanksRecordTheSameSteps) {
  NEEDS_NVTX();
  const HeatRun heat = run_heat(std::string(kNvtx) + "[ranks]\nselect = \"all\"\n", 20, 3);

  ASSERT_EQ(heat.traces.size(), 3u) << heat.outcome.err;
  for (const SeenTrace& trace : heat.traces) EXPECT_EQ(trace.steps(), (Steps{11, 12, 13})) << trace.path;
}

TEST(Steps, WindowsSideBySideHoldEachCallOnce) {
  NEEDS_NVTX();
  const HeatRun heat =
      run_heat(std::string(kNvtx) + "[schedule]\nskip_first = 0\nwarmup = 0\nactive = 5\nrepeat = 4\n", 20);

  ASSERT_EQ(heat.traces.size(), 4u) << heat.outcome.err;
  std::size_t calls = 0;
  for (const SeenTrace& trace : heat.traces) calls += trace.calls("MPI_Allreduce").size();
  EXPECT_EQ(calls, 20u);
}

}  // namespace
}  // namespace profshim::e2e
