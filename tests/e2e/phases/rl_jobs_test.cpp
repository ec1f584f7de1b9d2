// Reinforcement learning jobs in the shape of real ones: rollout engines beside trainers, and trainers whose phases are
// Python functions.
#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/torch_run.h"
#include "phase_events.h"

namespace profshim::e2e {
namespace {

std::string of_phase(const SeenTrace& trace, const std::string& key) {
  return json_member(trace.property("phase"), key);
}

/// Returns "rollout 2" -> trace, for the traces of phases below `folder`; "step 1" for windows of steps.
std::map<std::string, SeenTrace> by_occurrence(const std::string& folder) {
  std::map<std::string, SeenTrace> found;
  for (SeenTrace& trace : read_folder(folder)) {
    const bool is_of_steps = trace.property("phase").empty();
    const std::string key = is_of_steps ? "step" : of_phase(trace, "name") + " " + of_phase(trace, "occurrence");
    found.emplace(key, std::move(trace));
  }
  return found;
}

std::vector<std::string> keys_of(const std::map<std::string, SeenTrace>& traces) {
  std::vector<std::string> keys;
  for (const auto& [key, trace] : traces) keys.push_back(key);
  return keys;
}

TEST(RlJobs, ATrainerAndARolloutProcessHaveTheirPhasesInBothModes) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job;
  job.command = {"/bin/sh", "-c", "PROFSHIM_ROLE=rollout \"$1\" 8 2 & PROFSHIM_ROLE=actor \"$1\" 6 4; wait $!", "sh",
                 built("tests/apps_nvtx/nvtx_phases")};
  job.folder = scratch.path();
  scratch.write("spec.toml", R"(
version = 1
[ranks]
select = "role:actor"
[steps]
source = "nvtx"
pattern = "rl_step*"
[schedule]
steps = ["2-3"]
continuous = true
[output]
folder = "traces/{role}"
filename = "{phase}/{phase}_{occurrence}.pt.trace.json"
[[phase]]
name = "weight_sync"
nvtx = "update_weights*"
[[phase]]
name = "actor"
nvtx = "actor_train*"
mode = "window"
steps = { source = "nvtx", pattern = "micro_batch*" }
schedule = { skip_first = 5, warmup = 1, active = 2, repeat = 1 }
[[phase]]
name = "rollout"
nvtx = "rollout*"
mode = "window"
ranks = "role:rollout"
schedule = { skip_first = 2, warmup = 0, active = 2, repeat = 2 }
)");
  job.environment = {{"PROFSHIM_SPEC", scratch / "spec.toml"}};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto actor = by_occurrence(scratch / "traces/actor"), rollout = by_occurrence(scratch / "traces/rollout");
  EXPECT_EQ(keys_of(actor), (std::vector<std::string>{"actor 1", "step"})) << outcome.err;
  EXPECT_EQ(keys_of(rollout), (std::vector<std::string>{"rollout 2", "rollout 3", "rollout 4", "rollout 5"}))
      << outcome.err;
  ASSERT_TRUE(actor.contains("step") && actor.contains("actor 1"));
  EXPECT_EQ(by_phase(actor.at("step"), "MPI_Barrier"),
            (std::map<std::string, int>{{"-", 2 * (1 + 3)}, {"actor > weight_sync", 2}, {"actor", 2 * 8}}))
      << "the phase rollout is not of this role";
  EXPECT_EQ(of_phase(actor.at("actor 1"), "first_tick"), "6");
  EXPECT_EQ(of_phase(actor.at("actor 1"), "ticks"), "2");
  EXPECT_EQ(actor.at("actor 1").calls("MPI_Barrier").size(), 2u * 2 + 1) << "the last tick ends with the phase";
  for (const auto& [key, trace] : rollout)
    EXPECT_EQ(by_phase(trace, "MPI_Barrier"), (std::map<std::string, int>{{"rollout", 3}}));
}

/// A trainer in the shape of slime's: log-probs and training are methods, each a loop over micro-batches.
constexpr const char* kTrainer = R"(
import torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
class Actor:
    def forward_step(self, train):
        loss = model(torch.ones(4, 8)).sum()
        if train:
            loss.backward()
    def compute_log_prob(self, batches):
        with torch.no_grad():
            for _ in range(batches):
                self.forward_step(False)
    def train_actor(self, batches):
        for _ in range(batches):
            self.forward_step(True)
        optimizer.step()
        optimizer.zero_grad()
    def train(self, batches):
        self.compute_log_prob(batches)
        self.train_actor(batches)
def generate(n):
    with torch.no_grad():
        for _ in range(n):
            model(torch.ones(1, 8))
actor = Actor()
model(torch.ones(4, 8))
for iteration in range(8):
    generate(20)
    actor.train(4)
)";

TEST(TorchRlJobs, ATickOfAPhaseIsASmallTraceOfItsOwn) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_lines(scratch, kTrainer, R"(
version = 1
[schedule]
steps = ["3"]
[output]
folder = "traces/{phase}"
filename = "{phase}_{occurrence}.pt.trace.json"
[[phase]]
name = "train_actor"
python = "Actor.train_actor"
mode = "window"
steps = { source = "python", pattern = "Actor.forward_step" }
schedule = { skip_first = 9, warmup = 1, active = 1, repeat = 1 }
[[phase]]
name = "train_log_probs"
python = "Actor.compute_log_prob"
mode = "window"
steps = { source = "python", pattern = "Actor.forward_step" }
schedule = { skip_first = 4, warmup = 0, active = 2, repeat = 1 }
)"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = by_occurrence(scratch / "traces");
  ASSERT_EQ(keys_of(traces), (std::vector<std::string>{"step", "train_actor 2", "train_log_probs 1"})) << outcome.err;
  const SeenTrace& training = traces.at("train_actor 2");
  EXPECT_EQ(of_phase(training, "first_tick"), "10");
  EXPECT_EQ(of_phase(training, "ticks"), "1");
  EXPECT_EQ(training.calls("aten::linear").size(), 1u);
  EXPECT_EQ(training.calls("AddmmBackward0").size(), 1u);
  const SeenTrace& log_probs = traces.at("train_log_probs 1");
  EXPECT_EQ(of_phase(log_probs, "first_tick"), "4");
  EXPECT_EQ(of_phase(log_probs, "ticks"), "2");
  EXPECT_EQ(log_probs.calls("aten::linear").size(), 2u);
  EXPECT_EQ(log_probs.calls("AddmmBackward0").size(), 0u);
  EXPECT_EQ(traces.at("step").calls("aten::linear").size(), 20u + 4 + 4);
}

/// Counts the operators of a trace that have the argument `key`.
int operators_with(const SeenTrace& trace, const std::string& key) {
  int count = 0;
  for (const SeenEvent& event : trace.events) count += event.name == "aten::linear" && event.args.count(key) != 0;
  return count;
}

TEST(TorchRlJobs, WindowsShowTheDetailThatTheirPhaseAsksFor) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_lines(scratch, kTrainer, R"(
version = 1
[schedule]
steps = ["2-5"]
continuous = true
[capture]
record_shapes = true
[output]
folder = "traces/{phase}"
filename = "{phase}_{occurrence}.pt.trace.json"
[[phase]]
name = "actor"
python = "Actor.train_actor"
mode = "window"
schedule = { skip_first = 3, warmup = 0, active = 1, repeat = 1 }
capture = { record_shapes = false, with_stack = true, stack_depth = 2 }
[[phase]]
name = "log_probs"
python = "Actor.compute_log_prob"
mode = "window"
schedule = { skip_first = 3, warmup = 0, active = 1, repeat = 1 }
)"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = by_occurrence(scratch / "traces");
  ASSERT_EQ(keys_of(traces), (std::vector<std::string>{"actor 3", "log_probs 3", "step"})) << outcome.err;
  const SeenTrace &actor = traces.at("actor 3"), &log_probs = traces.at("log_probs 3"), &steps = traces.at("step");
  EXPECT_EQ(operators_with(actor, "Call stack"), 4);
  EXPECT_EQ(operators_with(actor, "Input Dims"), 0);
  EXPECT_EQ(operators_with(log_probs, "Call stack"), 0);
  EXPECT_EQ(operators_with(log_probs, "Input Dims"), 4);
  EXPECT_EQ(operators_with(steps, "Call stack"), 0);
  EXPECT_EQ(operators_with(steps, "Input Dims"), static_cast<int>(steps.calls("aten::linear").size()));
  for (const SeenEvent* call : actor.calls("aten::linear")) {
    const std::string& stack = call->args.at("Call stack");
    EXPECT_EQ(std::count(stack.begin(), stack.end(), ';'), 1) << stack;
  }
  EXPECT_TRUE(actor.metadata.contains("with_stack") && !actor.metadata.contains("record_shapes"));
  EXPECT_TRUE(!steps.metadata.contains("with_stack") && steps.metadata.contains("record_shapes"));
}

TEST(TorchRlJobs, RolloutAndActorHaveFoldersOfTheirOwn) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_lines(scratch, kTrainer, R"(
version = 1
[ranks]
select = "0"
[steps]
source = "nvtx"
pattern = "none"
[output]
folder = "traces/{phase}"
filename = "{phase}_{occurrence}.pt.trace.json"
[[phase]]
name = "rollout"
python = "generate"
mode = "window"
schedule = { skip_first = 2, warmup = 0, active = 1, repeat = 2 }
[[phase]]
name = "actor"
python = "Actor.train"
mode = "window"
schedule = { skip_first = 2, warmup = 0, active = 1, repeat = 1 }
[[phase]]
name = "log_probs"
python = "*.compute_log_prob"
)"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto rollout = by_occurrence(scratch / "traces/rollout"), actor = by_occurrence(scratch / "traces/actor");
  EXPECT_EQ(keys_of(rollout), (std::vector<std::string>{"rollout 2", "rollout 3"})) << outcome.err;
  EXPECT_EQ(keys_of(actor), (std::vector<std::string>{"actor 2"})) << outcome.err;
  EXPECT_EQ(by_phase(rollout.at("rollout 2"), "aten::linear"), (std::map<std::string, int>{{"rollout", 20}}));
  EXPECT_EQ(by_phase(actor.at("actor 2"), "aten::linear"),
            (std::map<std::string, int>{{"actor", 4}, {"actor > log_probs", 4}}));
}

}  // namespace
}  // namespace profshim::e2e
