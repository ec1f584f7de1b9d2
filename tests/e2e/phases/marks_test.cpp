// [[phase]] with mode = "mark".
#include <gtest/gtest.h>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"
#include "phase_events.h"

namespace profshim::e2e {
namespace {

constexpr const char* kPhases =
    "[[phase]]\nname = \"rollout\"\nnvtx = \"rollout*\"\n[[phase]]\nname = \"actor\"\nnvtx = \"actor_train*\"\n"
    "[[phase]]\nname = \"weight_sync\"\nnvtx = \"update_weights\"\n[[phase]]\nname = \"session\"\nnvtx = \"session\"\n";
constexpr const char* kSteps = "[steps]\nsource = \"nvtx\"\npattern = \"rl_step*\"\n[schedule]\nsteps = [\"2-3\"]\n";

TEST(MarkedPhases, AreInTheArgsOfTheirEvents) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(phases_job(scratch, 1, {"6", "4"}, std::string(kSteps) + kPhases));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(
      by_phase(traces[0], "MPI_Barrier"),
      (std::map<std::string, int>{
          {"session > rollout", 6}, {"session > actor", 16}, {"session, actor > weight_sync", 2}, {"session", 2}}));
  EXPECT_EQ(occurrences(traces[0], "rollout").size(), 2u);
  ASSERT_EQ(occurrences(traces[0], "session").size(), 1u);
  EXPECT_EQ(occurrences(traces[0], "session")[0]->args.count("started"), 1u);
}

TEST(MarkedPhases, StayWithoutTheActivityNvtx) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(phases_job(scratch, 1, {"6", "4"}, std::string(kSteps) + kPhases + "[capture]\nactivities = [\"mpi\"]\n"));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(by_phase(traces[0], "MPI_Barrier")["session > rollout"], 6);
  EXPECT_EQ(traces[0].calls("micro_batch 0").size(), 0u);
}

TEST(MarkedPhases, ThatAreNeverClosedEndWithTheJob) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(phases_job(scratch, 1, {"2", "4", "leak"}, std::string("[steps]\nsource = \"none\"\n") + kPhases));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  const auto rollouts = occurrences(traces[0], "rollout");
  ASSERT_EQ(rollouts.size(), 3u);
  EXPECT_EQ(rollouts[0]->args.count("unclosed"), 0u);
  EXPECT_EQ(rollouts[2]->args.at("unclosed"), "true");
  EXPECT_EQ(rollouts[2]->args.at("range"), "rollout that is never closed");
  EXPECT_EQ(by_phase(traces[0], "MPI_Barrier")["session > rollout"], 2 * 3 + 4);
}

TEST(MarkedPhases, EndWithTheirThread) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(phases_job(scratch, 1, {"3", "4", "thread"}, std::string("[steps]\nsource = \"none\"\n") + kPhases));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  int unclosed = 0;
  for (const SeenEvent* one : occurrences(traces[0], "rollout")) unclosed += one->args.count("unclosed") != 0;
  EXPECT_EQ(unclosed, 3);
  EXPECT_EQ(by_phase(traces[0], "MPI_Barrier")["rollout"], 3 * 5);
}

TEST(MarkedPhases, EndAfterMaxSeconds) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(phases_job(
      scratch, 1, {"2", "4", "slow"},
      "[steps]\nsource = \"none\"\n[[phase]]\nname = \"rollout\"\nnvtx = \"rollout*\"\nmax_seconds = 0.5\n"));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  const auto rollouts = occurrences(traces[0], "rollout");
  ASSERT_EQ(rollouts.size(), 2u);
  EXPECT_NEAR(static_cast<double>(rollouts[1]->duration_ns), 5e8, 1e6);
  EXPECT_EQ(rollouts[1]->args.at("unclosed"), "true");
}

TEST(MarkedPhases, ComeFromRecordFunction) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const std::string script = R"(
import torch
from torch.profiler import record_function
x = torch.ones(4, 4)
for step in range(6):
    with record_function(f"step {step}"):
        with record_function("rollout"):
            torch.mm(x, x)
        try:
            with record_function("actor"):
                torch.mm(x, x)
                torch.mm(x, x)
                raise ValueError()
        except ValueError:
            torch.mm(x, x)
)";
  const std::string spec = R"(
version = 1
[steps]
source = "torch"
pattern = "step *"
[schedule]
steps = ["2-3"]
[output]
folder = "traces"
[[phase]]
name = "rollout"
torch = "rollout"
[[phase]]
name = "actor"
torch = "act*"
)";

  const Outcome outcome = run(torch_lines(scratch, script, spec));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(by_phase(traces[0], "aten::mm"), (std::map<std::string, int>{{"rollout", 2}, {"actor", 4}, {"-", 2}}));
  EXPECT_EQ(occurrences(traces[0], "actor").size(), 2u);
}

}  // namespace
}  // namespace profshim::e2e
