// [[phase]] by symbol, thread and kernel.
#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/recorded_jobs.h"
#include "phase_events.h"

namespace profshim::e2e {
namespace {

/// A whole-run window, with the phases of `spec`.
Job symbol_job(const ScratchFolder& scratch, const std::string& program, const std::string& spec) {
  Job job = phases_job(scratch, 1, {}, "[steps]\nsource = \"none\"\n" + spec);
  job.command.back() = built("tests/apps_symbol/" + program);
  return job;
}

class PhasesByUnwinder : public testing::TestWithParam<std::string> {};

TEST_P(PhasesByUnwinder, EndHoweverTheCallEnds) {
  const ScratchFolder scratch;

  const Outcome outcome =
      run(symbol_job(scratch, "phases_" + GetParam(), "[[phase]]\nname = \"work\"\nsymbol = \"phase_*\"\n"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, "all as without profshim\n");
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(by_range(traces[0], "work"), (std::map<std::string, int>{{"phase_jumps", 1000},
                                                                     {"phase_ends_thread", 5},
                                                                     {"phase_counts_frames", 1},
                                                                     {"phase_long_double", 10 + 1},
                                                                     {"phase_text", 6},
                                                                     {"phase_around", 6},
                                                                     {"phase_first", 4},
                                                                     {"phase_recursive", 1},
                                                                     {"phase_on_fiber", 1},
                                                                     {"phase_forks", 1}}));
  EXPECT_EQ(by_phase(traces[0], "MPI_Barrier"),
            (std::map<std::string, int>{{"work", 1000 + 5 + 14 + 6 + 6 + 4 * 3 + 21 + 3 + 1}}));
  EXPECT_EQ(traces[0].property("problems"), "[]");
}
INSTANTIATE_TEST_SUITE_P(Unwinders, PhasesByUnwinder, testing::Values("shared", "static"),
                         [](const auto& row) { return row.param; });

TEST(PhasesOfFunctions, LeaveNoFrameInStacks) {
  const ScratchFolder scratch;

  const Outcome outcome = run(symbol_job(scratch, "phases_shared",
                                         "[capture]\nnative_stack = true\n[[phase]]\nname = \"work\"\nsymbol = "
                                         "\"phase_text\"\n"));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  int seen = 0;
  for (const SeenEvent* call : traces[0].calls("MPI_Barrier")) {
    const std::string stack = call->args.count("Call stack") != 0 ? call->args.at("Call stack") : "";
    EXPECT_EQ(stack.find("profshim"), std::string::npos) << stack;
    seen += stack.find("phase_text;main") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(seen, 5) << "the caller comes behind the function, through the slot of its return";
}

TEST(PhasesOfFunctions, ThatNoModuleHasAreNamed) {
  const ScratchFolder scratch;

  const Outcome outcome =
      run(symbol_job(scratch, "phases_shared", "[[phase]]\nname = \"work\"\nsymbol = \"phase_txt\"\n"));

  EXPECT_EQ(lines_with(outcome, "no function matches a phase's \"phase_txt\""), 1u) << outcome.err;
  EXPECT_EQ(lines_with(outcome, "nearest: phase_text"), 1u) << outcome.err;
}

TEST(PhasesOfFunctions, HaveWindowsAndTicks) {
  const ScratchFolder scratch;

  const Outcome outcome = run(
      symbol_job(scratch, "phases_shared",
                 "[[phase]]\nname = \"text\"\nsymbol = \"phase_text\"\nmode = \"window\"\nschedule = { steps = [3] }\n"
                 "[[phase]]\nname = \"deep\"\nsymbol = \"phase_around\"\nmode = \"window\"\nsteps = { source = "
                 "\"symbol\", pattern "
                 "= \"phase_text\" }\nschedule = { steps = [4] }\n"));

  const auto text = read_folder(scratch / "traces/text-3"), deep = read_folder(scratch / "traces/deep-4");
  ASSERT_EQ(text.size(), 1u) << outcome.err;
  ASSERT_EQ(deep.size(), 1u) << outcome.err;
  EXPECT_EQ(text[0].calls("MPI_Barrier").size(), 1u);
  EXPECT_EQ(deep[0].calls("MPI_Barrier").size(), 1u);
  EXPECT_EQ(json_member(deep[0].property("phase"), "first_tick"), "4");
}

TEST(PhasesOfThreads, LastAsLongAsTheThread) {
  const ScratchFolder scratch;

  const Outcome outcome = run(symbol_job(scratch, "phases_shared",
                                         "[[phase]]\nname = \"all\"\nthread = \"phases_*\"\n[[phase]]\nname = "
                                         "\"none\"\nthread = \"other*\"\n"));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(by_range(traces[0], "all"), (std::map<std::string, int>{{"phases_shared", 1 + 5}}));
  EXPECT_EQ(by_phase(traces[0], "MPI_Barrier").count("-"), 0u);
  EXPECT_TRUE(occurrences(traces[0], "none").empty());
}

TEST(PhasesOfKernels, AreRunsOfLaunches) {
  GpuJob job;
  job.program = "launch_loop";
  job.arguments = {"1000", "100"};
  job.spec =
      std::string(kRecordAll) +
      "[[phase]]\nname = \"update\"\nkernel = \"adam*\"\n[[phase]]\nname = \"compute\"\nkernel = \"tiny*\"\nmode "
      "= \"window\"\nschedule = { steps = [2] }\n";

  const GpuRun run = run_gpu(job);

  EXPECT_EQ(run.outcome.ending(), "exit 0") << run.outcome.err;
  ASSERT_EQ(run.traces.size(), 2u) << run.outcome.err;
  const SeenTrace& window = run.traces[0].property("phase").empty() ? run.traces[1] : run.traces[0];
  const SeenTrace& whole = run.traces[0].property("phase").empty() ? run.traces[0] : run.traces[1];
  EXPECT_EQ(of_category(window, "kernel").size(), 100u);
  const auto updates = occurrences(whole, "update");
  ASSERT_EQ(updates.size(), 10u);
  EXPECT_TRUE(updates[0]->args.at("range").starts_with("adam_kernel")) << updates[0]->args.at("range");
  for (const SeenEvent* kernel : of_category(whole, "kernel")) {
    EXPECT_EQ(kernel->args.at("phase"), kernel->name.starts_with("adam") ? "update" : "compute");
  }
}

}  // namespace
}  // namespace profshim::e2e
