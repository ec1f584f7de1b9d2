#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "e2e/consumers/readers.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

struct Script {
  const char* name;
  const char* command;
  Launch launch;
  int torch;  // oldest major version of PyTorch
  const char* optimizer;
  std::map<std::string, int> in_a_step;  // calls by name
  // a command that prints the same; "" = `command`
  std::string as = {};
  // torch.profiler misses operators on Python threads, so the counts of `as` are compared.
  bool has_threads = false;
};
void PrintTo(const Script& script, std::ostream* out) { *out << script.command; }

const char* const kSgd = "Optimizer.step#SGD.step";
const char* const kDdp = "DistributedDataParallel.forward";

const char* const kPlain = "train_ddp.py";

const Script kScripts[] = {
    {"Ddp", kPlain, Launch::kTorchrun, 1, kSgd, {{kDdp, 1}, {"AddmmBackward0", 2}}},
    {"Accumulation", "train_ddp.py --accumulate 4", Launch::kTwoRanks, 1, kSgd, {{kDdp, 4}, {"AddmmBackward0", 8}}},
    {"BackwardThread", "train_ddp.py --backward-thread", Launch::kTwoRanks, 1, kSgd, {{kDdp, 1}}, kPlain, true},
    {"ForkedWorkers", "train_ddp.py --workers 2 --context fork", Launch::kTwoRanks, 1, kSgd, {{kDdp, 1}}, kPlain},
    {"SpawnedWorkers", "train_ddp.py --workers 1 --context spawn", Launch::kTwoRanks, 1, kSgd, {{kDdp, 1}}, kPlain},
    {"ForkserverWorkers",
     "train_ddp.py --workers 1 --context forkserver",
     Launch::kTwoRanks,
     1,
     kSgd,
     {{kDdp, 1}},
     kPlain},
    {"Fsdp",
     "train_fsdp.py",
     Launch::kTwoRanks,
     2,
     "Optimizer.step#AdamW.step",
     {{"FullyShardedDataParallel.forward", 1}}},
    {"FullyShard",
     "train_fsdp.py --second",
     Launch::kTwoRanks,
     2,
     "Optimizer.step#AdamW.step",
     {{"AddmmBackward0", 2}}},
    {"Trainer", "trainer.py", Launch::kAlone, 1, "Optimizer.step#AdamW.step", {{"aten::cross_entropy_loss", 2}}},
    {"Reinforce", "reinforce.py", Launch::kAlone, 1, "Optimizer.step#Adam.step", {{"aten::gather", 1}}},
};

int ranks_of(Launch launch) { return launch == Launch::kAlone ? 1 : 2; }

struct WithoutUs {
  Outcome outcome;
  std::map<int, std::map<std::string, int>> counts;  // by rank
};
const WithoutUs& without_us(Launch launch, const std::string& command) {
  static std::map<std::string, WithoutUs> known;
  const auto [found, is_new] = known.try_emplace(command);
  if (is_new) {
    const ScratchFolder scratch;
    const Launch plainly = launch == Launch::kTorchrun ? Launch::kTwoRanks : launch;
    Job job = torch_job(scratch, plainly, command + " --counts " + (scratch / "counts.json"));
    job.preload = false;
    found->second.outcome = run(job);
    for (int rank = 0; rank < ranks_of(launch) && found->second.outcome.ending() == "exit 0"; ++rank)
      found->second.counts[rank] = torchs_counts(scratch / "counts.json", rank);
  }
  return found->second;
}

RUNS_IN_ONE_PROCESS(TorchScripts);

class TorchScripts : public testing::TestWithParam<Script> {};

TEST_P(TorchScripts, RunAsWithoutTheLibraryAndTracesAreComplete) {
  const Script& script = GetParam();
  NEEDS_TORCH(script.torch);
  const ScratchFolder scratch;
  const std::string counts = scratch / "counts.json";
  const WithoutUs& without = without_us(script.launch, script.as.empty() ? script.command : script.as);
  if (without.outcome.err.find("'Stream' object has no attribute 'record_event'") != std::string::npos)
    GTEST_SKIP() << "this PyTorch's fully_shard does not work without a GPU";
  ASSERT_EQ(without.outcome.ending(), "exit 0") << without.outcome.err;

  const Outcome with = run(torch_job(scratch, script.launch, std::string(script.command) + " --counts " + counts));

  EXPECT_EQ(with.ending(), "exit 0") << with.err;
  EXPECT_EQ(with.out, without.outcome.out);
  EXPECT_NE(with.err.find("steps from torch \"Optimizer.step#"), std::string::npos) << with.err;
  EXPECT_NE(with.err.find(", 20 seen, confidence "), std::string::npos) << with.err;
  // Low confidence asks for a line in the spec.
  const bool is_sure = with.err.find("confidence low") == std::string::npos;
  EXPECT_EQ(with.shim_lines().size(), is_sure ? 1u : 2u) << with.err;
  const int ranks = ranks_of(script.launch);
  std::multiset<int> seen;
  for (const SeenTrace& trace : read_folder(scratch / "traces")) {
    SCOPED_TRACE(trace.path);
    seen.insert(trace.rank());
    EXPECT_EQ(json_member(trace.metadata.at("distributedInfo"), "world_size"), std::to_string(ranks));
    EXPECT_EQ(trace.property("problems"), "[]");
    EXPECT_EQ(trace.property("dropped_events"), "0");
    expect_whole_steps(trace, script.optimizer);
    for (const auto& [name, calls] : script.in_a_step) EXPECT_EQ(calls_in_step(trace, 12, name), calls) << name;
    const auto expected = script.has_threads ? without.counts.at(trace.rank()) : torchs_counts(counts, trace.rank());
    EXPECT_GT(expected.size(), 20u);
    if (script.has_threads) {
      ASSERT_FALSE(trace.calls("AddmmBackward0").empty() || trace.calls(kDdp).empty());
      EXPECT_NE(trace.calls("AddmmBackward0")[0]->tid, trace.calls(kDdp)[0]->tid);
    }
    EXPECT_EQ(differences(trace, expected), "");
    const Outcome verdict = profshim({"verify", trace.path});
    EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
  }
  EXPECT_EQ(seen, ranks == 1 ? (std::multiset<int>{0}) : (std::multiset<int>{0, 1})) << with.err;
}

INSTANTIATE_TEST_SUITE_P(Real, TorchScripts, testing::ValuesIn(kScripts),
                         [](const auto& row) { return std::string(row.param.name); });

std::vector<SeenTrace> traces_of(const ScratchFolder& scratch, Job job) {
  expect_same(run_both(std::move(job)));
  return read_folder(scratch / "traces");
}

/// Both ways to name the ranks print the same without the library.
std::vector<SeenTrace> traces_of_spawned_ranks(const ScratchFolder& scratch, const std::string& arguments) {
  static const Outcome without = [] {
    const ScratchFolder elsewhere;
    Job job = torch_job(elsewhere, Launch::kAlone, "launchers/spawn_ranks.py");
    job.preload = false;
    return run(job);
  }();
  expect_same({without, run(torch_job(scratch, Launch::kAlone, "launchers/spawn_ranks.py" + arguments))});
  return read_folder(scratch / "traces");
}

RUNS_IN_ONE_PROCESS(TorchSpawnedRanks);

TEST(TorchSpawnedRanks, AreRecordedIfTheyLearnTheirRankLate) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const auto traces = traces_of_spawned_ranks(scratch, "");

  ASSERT_EQ(traces.size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(traces[static_cast<std::size_t>(rank)].rank(), rank);
    expect_whole_steps(traces[static_cast<std::size_t>(rank)], kSgd);
  }
}

// The parent calls operators but is no rank.
TEST(TorchSpawnedRanks, AreRecordedIfOnlyInitProcessGroupKnowsThem) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const auto traces = traces_of_spawned_ranks(scratch, " --by-argument");

  ASSERT_EQ(traces.size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    const SeenTrace& trace = traces[static_cast<std::size_t>(rank)];
    EXPECT_EQ(trace.rank(), rank);
    EXPECT_EQ(json_member(trace.metadata.at("distributedInfo"), "world_size"), "2");
    EXPECT_EQ(json_member(trace.metadata.at("distributedInfo"), "backend"), "gloo");
    EXPECT_EQ(trace.property("rank_source"), "torch.distributed");
    expect_whole_steps(trace, kSgd);
  }
}

// Half of the backward pass runs on threads of RPC.
TEST(TorchPrograms, PairThatCallsEachOtherIsRecorded) {
  NEEDS_RPC();
  const ScratchFolder scratch;

  const auto traces = traces_of(scratch, torch_job(scratch, Launch::kTwoRanks, "rpc/rpc_pair.py", "steps.source=none"));

  ASSERT_EQ(traces.size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    const SeenTrace& trace = traces[static_cast<std::size_t>(rank)];
    EXPECT_EQ(trace.rank(), rank);
    EXPECT_EQ(trace.calls("aten::linear").size(), 20u);
    EXPECT_EQ(trace.calls("AddmmBackward0").size(), 20u);
    EXPECT_EQ(trace.property("problems"), "[]");
  }
}

TEST(TorchPrograms, InterruptedProgramLeavesItsTrace) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const auto [without, with] = run_both(torch_job(scratch, Launch::kAlone, "interrupted.py", "steps.source=none"));

  EXPECT_EQ(without.ending(), "signal 2");
  EXPECT_EQ(with.ending(), "signal 2");
  EXPECT_NE(with.err.find("KeyboardInterrupt"), std::string::npos) << with.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << with.err;
  EXPECT_EQ(traces[0].calls("aten::add").size(), 5u);
}

TEST(LibtorchPrograms, AreRecordedWithoutPython) {
  const std::string program = PROFSHIM_SOURCE_DIR "/build/tests/apps_torch/products";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "no headers of PyTorch: apt install libtorch-dev";
  const ScratchFolder scratch;
  Job job{.command = {program}};
  job.folder = scratch.path();
  job.environment = {{"PROFSHIM_SET", "steps.source=none output.folder='" + (scratch / "traces") + "'"}};

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const std::string said = "16777216, PyTorch ";
  ASSERT_EQ(outcome.out.substr(0, said.size()), said);
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].calls("aten::mm").size(), 10u);
  EXPECT_EQ(traces[0].property("torch_version") + "\n", outcome.out.substr(said.size()));
}

// Inductor's workers, the compiler and the linker inherit LD_PRELOAD and RANK.
TEST(TorchPrograms, CompiledModelIsRecorded) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;
  Job job = torch_job(scratch, Launch::kAlone, "compiled.py");
  job.environment.emplace_back("RANK", "0");
  job.environment.emplace_back("WORLD_SIZE", "1");

  const Outcome with = run(job);  // before `without`, which finds the compiled code in the cache
  job.preload = false;
  const Outcome without = run(job);

  EXPECT_EQ(with.ending(), "exit 0") << with.err;
  EXPECT_EQ(without.ending(), "exit 0") << without.err;
  EXPECT_EQ(with.out, without.out);
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << with.err;
  expect_whole_steps(traces[0], kSgd);
  EXPECT_EQ(traces[0].calls("CompiledFunction").size(), 3u);
  EXPECT_EQ(traces[0].calls("CompiledFunctionBackward").size(), 3u);
}

TEST(TorchPrograms, AnotherProfilerGetsTheSameAsWithoutTheLibrary) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Both both = run_both(torch_job(scratch, Launch::kAlone, "profiler/own_profiler.py " + scratch.path(),
                                       "steps.source=torch steps.pattern='Optimizer.step#*' schedule.steps=['5-15']"));
  if (both.without.ending() == "signal 11") GTEST_SKIP() << "this PyTorch's own profiler breaks";
  expect_same(both);
  const auto traces = read_folder(scratch / "traces");

  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].calls("forward").size(), 11u);
  EXPECT_EQ(traces[0].calls("AddmmBackward0").size(), 22u);
  EXPECT_EQ(traces[0].property("problems"), "[]");
}

// swap_tensors() throws if a tensor has another owner, such as a profiler.
TEST(TorchPrograms, ModelSwappedEveryStepIsRecorded) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;

  const auto traces = traces_of(scratch, torch_job(scratch, Launch::kAlone, "swap_tensors.py"));

  ASSERT_EQ(traces.size(), 1u);
  expect_whole_steps(traces[0], kSgd);
}

TEST(TorchReaders, LoadTheTracesOfTwoRanks) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  Job job = torch_job(scratch, Launch::kTwoRanks, "train_ddp.py",
                      "capture.with_stack=true capture.record_shapes=true capture.profile_memory=true");
  ASSERT_EQ(run(job).ending(), "exit 0");

  for (const char* reader : {"load_with_hta.py", "load_with_tb.py"}) {
    std::vector<std::string> arguments = {scratch / "traces/step11",
                                          "2",
                                          "--steps",
                                          "11,12,13",
                                          "--operators",
                                          "aten::addmm,aten::relu,AddmmBackward0,torch::autograd::AccumulateGrad"};
    if (std::string_view(reader) == "load_with_tb.py") {
      for (const char* const more : {"--stack", "train_ddp.py", "--shapes", "--memory", "CPU"}) {
        arguments.emplace_back(more);
      }
    }
    const Outcome outcome = ask_reader(reader, arguments);
    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace profshim::e2e
