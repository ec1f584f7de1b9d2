// The example for reinforcement learning: two trainers, and engines of which three run.
#include <gtest/gtest.h>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/torch_run.h"
#include "example_jobs.h"

namespace profshim::e2e {
namespace {

/// Returns the names of files without the process id.
std::vector<std::string> traces_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& file : files_below(folder)) {
    const std::size_t pid = file.find("_pid");
    if (pid != std::string::npos) names.push_back(file.substr(0, pid));
  }
  return names;
}

SeenTrace trace_of(const std::string& folder, const std::string& begin) {
  for (const std::string& path : traces_below(folder))
    if (path.find("/" + begin) != std::string::npos) return read_seen(path);
  ADD_FAILURE() << "no " << begin << " in " << folder;
  return {};
}

Job trainers_and_engines(const ScratchFolder& scratch) {
  std::vector<Process> processes;
  for (int rank : {0, 1}) processes.push_back({rank, 2, 2, "rl.py trainer 12"});
  for (int rank : {0, 1, 8}) processes.push_back({rank, 9, 9, "rl.py engine 100"});
  const std::string spec = write_example(scratch, "rl-phases.toml", {{"\"/scratch/", "\"" + (scratch / "scratch/")}});
  return python_job(scratch, spec, processes);
}

TEST(ExampleOfReinforcementLearning, TrainersAndEnginesHaveFoldersOfTheirOwn) {
  NEEDS_NVTX();
  NEEDS_TORCH_FOR_CPU();
  const ScratchFolder scratch;

  const Outcome outcome = run(trainers_and_engines(scratch));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.err.find("nothing is recorded"), std::string::npos) << outcome.err;
  const std::string one = scratch / "scratch/grpo-qwen3", other = one + "-2";
  const bool trainers_came_first = !traces_in(one + "/step").empty();
  const std::string trainers = trainers_came_first ? one : other, engines = trainers_came_first ? other : one;
  EXPECT_EQ(traces_in(trainers + "/step"),
            (std::vector<std::string>{"step_step10_rank0-of-2", "step_step2_rank0-of-2"}));
  EXPECT_EQ(traces_in(trainers + "/actor"), (std::vector<std::string>{"actor_step1_rank0-of-2"}));
  EXPECT_EQ(traces_in(trainers + "/log_probs"), (std::vector<std::string>{"log_probs_step1_rank0-of-2"}));
  std::vector<std::string> rollouts;
  for (int token = 55; token < 87; ++token) {
    for (const char* rank : {"0", "8"})
      rollouts.push_back("rollout_step" + std::to_string(token) + "_rank" + rank + "-of-9");
  }
  EXPECT_EQ(traces_in(engines + "/rollout"), rollouts);

  const SeenTrace steps = trace_of(trainers + "/step", "step_step2_");
  EXPECT_EQ(steps.steps(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(kernels_of(steps),
            (std::map<std::string, int>{{"forward_kernel", 16}, {"backward_kernel", 12}, {"optimizer_kernel", 8}}));
  const SeenTrace tick = trace_of(trainers + "/actor", "actor_step1_");
  EXPECT_EQ(kernels_of(tick),
            (std::map<std::string, int>{{"forward_kernel", 2}, {"backward_kernel", 2}, {"optimizer_kernel", 1}}));
  EXPECT_EQ(json_member(tick.property("phase"), "first_tick"), "3");
  EXPECT_TRUE(tick.metadata.contains("with_stack") && !steps.metadata.contains("with_stack"));
  EXPECT_EQ(kernels_of(trace_of(trainers + "/log_probs", "log_probs_step1_")),
            (std::map<std::string, int>{{"forward_kernel", 2}}));
  EXPECT_EQ(kernels_of(trace_of(engines + "/rollout", "rollout_step55_rank8")),
            (std::map<std::string, int>{{"decode_kernel", 1}}));
  int in_sync = 0;
  for (const SeenEvent& event : steps.events) {
    const auto phase = event.args.find("phase");
    in_sync += event.category == "kernel" && phase != event.args.end() && phase->second == "weight_sync";
  }
  EXPECT_EQ(in_sync, 2) << "a kernel of each update_weights";
  EXPECT_EQ(profshim({"verify", "--quiet", scratch / "scratch"}).out, "");
}

}  // namespace
}  // namespace profshim::e2e
