// [[phase]] with mode = "window".
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr const char* kSteps = "[steps]\nsource = \"nvtx\"\npattern = \"rl_step*\"\n[schedule]\nsteps = [\"2-3\"]\n";

std::string phase(const std::string& name, const std::string& pattern, const std::string& more) {
  return "[[phase]]\nname = \"" + name + "\"\nnvtx = \"" + pattern + "\"\nmode = \"window\"\n" + more;
}

std::vector<std::string> names_below(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& path : traces_below(folder)) names.push_back(path.substr(folder.size() + 1));
  return names;
}

std::string of_phase(const SeenTrace& trace, const std::string& key) {
  return json_member(trace.property("phase"), key);
}

TEST(PhaseWindows, AreTheOccurrencesOfTheScheduleBesideTheWindowsOfSteps) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(phases_job(
      scratch, 1, {"6", "4"},
      std::string(kSteps) +
          phase("rollout", "rollout*", "schedule = { skip_first = 1, warmup = 0, active = 2, repeat = 1 }\n")));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(names_below(scratch / "traces"),
            (std::vector<std::string>{"rollout-1/step1/rank0.1.pt.trace.json", "rollout-2/step2/rank0.2.pt.trace.json",
                                      "step2/rank0.2.pt.trace.json"}))
      << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 3u);
  EXPECT_EQ(of_phase(traces[0], "name"), "rollout");
  EXPECT_EQ(of_phase(traces[0], "occurrence"), "1");
  EXPECT_EQ(of_phase(traces[0], "unclosed"), "");
  EXPECT_EQ(traces[0].property("complete"), "true");
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 3u);
  EXPECT_EQ(traces[1].calls("rollout 2").size(), 1u);
  EXPECT_EQ(traces[1].calls("actor_train 2").size(), 0u);
  EXPECT_EQ(traces[2].steps(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(traces[2].calls("MPI_Barrier").size(), 2u * (3 + 4 * 2 + 1 + 1));
  EXPECT_EQ(traces[2].property("phase"), "");
  const Outcome summed = profshim({"summary", "--mpi", "--json", scratch / "traces"});
  EXPECT_NE(summed.err.find("left out 2 traces of phases"), std::string::npos) << summed.err;
  EXPECT_NE(summed.out.find("\"calls\": 26"), std::string::npos) << summed.out;
  EXPECT_EQ(profshim({"summary", "--mpi", scratch / "traces/rollout-1"}).err, "");
}

TEST(PhaseWindows, OfTicksHoldTheTickThatTheScheduleCounts) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(phases_job(scratch, 1, {"3", "8"},
                     std::string(kSteps) + phase("actor", "actor_train*",
                                                 "steps = { pattern = \"micro_batch*\" }\nschedule = { "
                                                 "skip_first = 3, warmup = 0, active = 1 }\n")));

  const auto traces = read_folder(scratch / "traces/actor-0");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].calls("micro_batch 3").size(), 1u);
  EXPECT_EQ(traces[0].calls("micro_batch 2").size() + traces[0].calls("micro_batch 4").size(), 0u);
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 2u);
  EXPECT_EQ(of_phase(traces[0], "first_tick"), "3");
  EXPECT_EQ(of_phase(traces[0], "ticks"), "1");
}

TEST(PhaseWindows, AreNestedInWindowsOfOuterPhases) {
  NEEDS_NVTX();
  const ScratchFolder other;
  const Outcome nested = run(phases_job(other, 1, {"3", "4"},
                                        std::string("[steps]\nsource = \"none\"\n") +
                                            phase("outer", "rl_step*", "schedule = { steps = [1] }\n") +
                                            phase("inner", "actor_train*", "schedule = { steps = [1] }\n")));

  const auto inner = read_folder(other / "traces/inner-1"), outer = read_folder(other / "traces/outer-1");
  ASSERT_EQ(inner.size(), 1u) << nested.err;
  ASSERT_EQ(outer.size(), 1u) << nested.err;
  EXPECT_EQ(inner[0].calls("MPI_Barrier").size(), 4u * 2 + 1);
  EXPECT_EQ(outer[0].calls("MPI_Barrier").size(), 3u + 4 * 2 + 1 + 1);
  EXPECT_EQ(outer[0].calls("actor_train 1").size(), 1u);
  // The window of the whole run goes on beside.
  EXPECT_EQ(read_folder(other / "traces").size(), 3u);
}

TEST(PhaseWindows, AreOnTheRanksOfTheirPhase) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(
      phases_job(scratch, 3, {"6", "4"},
                 std::string(kSteps) +
                     "[output]\nfolder = \"traces/{phase}\"\nfilename = \"{phase}_{step}_rank{rank}.pt.trace.json\"\n" +
                     phase("rollout", "rollout*", "ranks = \"2\"\nschedule = { steps = [3] }\n") +
                     phase("actor", "actor_train*", "schedule = { steps = [0] }\n")));

  EXPECT_EQ(names_below(scratch / "traces"),
            (std::vector<std::string>{"actor/actor_0_rank0.pt.trace.json", "rollout/rollout_3_rank2.pt.trace.json",
                                      "step/step_2_rank0.pt.trace.json"}))
      << outcome.err;
  const Outcome listed = profshim({"ls", scratch / "traces"});
  EXPECT_EQ(listed.ending(), "exit 0") << listed.out;
  EXPECT_NE(listed.out.find("rollout 3"), std::string::npos) << listed.out;
}

TEST(PhaseWindows, ThatAreNeverClosedEndWithTheJob) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(phases_job(scratch, 1, {"2", "4", "leak"},
                     std::string(kSteps) + phase("rollout", "rollout*", "schedule = { steps = [2] }\n")));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(of_phase(traces[0], "unclosed"), "true");
  EXPECT_EQ(traces[0].property("complete"), "false");
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 4u);
}

TEST(PhaseWindows, EndAfterMaxSeconds) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(phases_job(
      scratch, 1, {"2", "4", "slow"},
      std::string(kSteps) + phase("rollout", "rollout*", "max_seconds = 0.5\nschedule = { steps = [1] }\n")));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(of_phase(traces[0], "unclosed"), "true");
  EXPECT_EQ(traces[0].property("limit"), "phase.max_seconds");
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 3u);
}

TEST(PhaseWindows, EndAtTheLimitsOfTheirPhase) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome = run(
      phases_job(scratch, 1, {"4", "4", "slow"},
                 std::string(kSteps) +
                     phase("rollout", "rollout*", "schedule = { steps = [3] }\nlimits = { window_seconds = 0.4 }\n") +
                     phase("actor", "actor*", "schedule = { steps = [\"0-3\"] }\nlimits = { total_traces = 2 }\n")));

  EXPECT_EQ(names_below(scratch / "traces"),
            (std::vector<std::string>{"actor-0/step0/rank0.0.pt.trace.json", "actor-1/step1/rank0.1.pt.trace.json",
                                      "rollout-3/step3/rank0.3.pt.trace.json", "step2/rank0.2.pt.trace.json"}))
      << outcome.err;
  const auto traces = read_folder(scratch / "traces/rollout-3");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].property("limit"), "limits.window_seconds");
  EXPECT_EQ(traces[0].property("truncated"), "true");
  EXPECT_EQ(of_phase(traces[0], "unclosed"), "");
}

TEST(PhaseWindows, OverlapOnTwoThreadsIsSaid) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(phases_job(scratch, 1, {"2", "4", "overlap"},
                     std::string(kSteps) + phase("rollout", "rollout*", "schedule = { steps = [1] }\n")));

  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(of_phase(traces[0], "occurrence"), "1");
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 3u + 5u);
  EXPECT_NE(traces[0].property("problems").find("a phase was in progress on two threads at once"), std::string::npos);
}

TEST(PhaseWindows, ThatWereNotReachedAreSaid) {
  NEEDS_NVTX();
  const ScratchFolder scratch;

  const Outcome outcome =
      run(phases_job(scratch, 1, {"4", "4"},
                     std::string(kSteps) + phase("rollout", "rollout*", "schedule = { steps = [9] }\n") +
                         phase("decode", "decode*", "")));

  EXPECT_NE(
      outcome.err.find("no window of phase \"rollout\" was reached: 4 occurrences seen, first window at occurrence 9"),
      std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("no window of phase \"decode\" was reached: no nvtx range matched \"decode*\""),
            std::string::npos)
      << outcome.err;
}

TEST(PhaseWindows, OfRecordFunctionHoldTheOperatorsInside) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const std::string script = R"(
import torch
from torch.profiler import record_function
x = torch.ones(4, 4)
for i in range(9):
    torch.add(x, x)
    with record_function(f"decode {i}"):
        torch.mm(x, x)
        for j in range(i):
            with record_function("token"):
                torch.mul(x, x)
)";
  const std::string spec = R"(
version = 1
[steps]
source = "torch"
pattern = "no such range"
[output]
folder = "traces"
filename = "{phase}{occurrence}.pt.trace.json"
[[phase]]
name = "decode"
torch = "decode*"
mode = "window"
schedule = { skip_first = 3, warmup = 1, active = 2, repeat = 1 }
[[phase]]
name = "token"
torch = "decode*"
mode = "window"
steps = { source = "torch", pattern = "token" }
schedule = { skip_first = 15, warmup = 1, active = 4, repeat = 1 }
)";

  const Outcome outcome = run(torch_lines(scratch, script, spec));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(names_below(scratch / "traces"),
            (std::vector<std::string>{"decode4-rank0.pt.trace.json", "decode5-rank0.pt.trace.json",
                                      "token6-rank0.pt.trace.json"}))
      << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 3u);
  EXPECT_EQ(traces[0].calls("aten::mm").size(), 1u);
  EXPECT_EQ(traces[0].calls("aten::mul").size(), 4u);
  EXPECT_EQ(traces[1].calls("aten::mul").size(), 5u);
  EXPECT_EQ(traces[1].calls("aten::add").size(), 0u);
  EXPECT_EQ(traces[2].calls("aten::mul").size(), 4u);
  EXPECT_EQ(of_phase(traces[2], "first_tick"), "16");
  EXPECT_EQ(of_phase(traces[2], "ticks"), "4");
  const Outcome summed = profshim({"summary", "--phases", traces[1].path});
  EXPECT_NE(summed.out.find("decode"), std::string::npos) << summed.out << summed.err;
}

TEST(PhaseWindows, OfAKilledJobAreRecovered) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = phases_job(scratch, 1, {"3", "4", "hang"},
                       std::string("[steps]\nsource = \"nvtx\"\npattern = \"none\"\n") +
                           phase("rollout", "rollout*", "schedule = { steps = [2] }\n"));
  const std::string program = job.command[job.command.size() - 4];
  // In the foreground, `timeout` waits for the job that it kills.
  job.command = {"timeout", "--foreground", "-s", "KILL", "4", program, "3", "4", "hang"};

  const Outcome outcome = run(job);
  const Outcome recovered = profshim({"recover", scratch / "traces"});

  EXPECT_EQ(recovered.ending(), "exit 0") << outcome.err << recovered.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << recovered.out << recovered.err;
  EXPECT_EQ(of_phase(traces[0], "name"), "rollout");
  EXPECT_EQ(of_phase(traces[0], "unclosed"), "true");
  EXPECT_EQ(traces[0].property("recovered"), "true");
  EXPECT_EQ(traces[0].calls("MPI_Barrier").size(), 3u);
}

}  // namespace
}  // namespace profshim::e2e
