// Processes learn their rank late: Lightning restarts its program, and Ray starts workers without a rank.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

struct Launcher {
  const char* name;
  const char* command;
  const char* optimizer;
  const char* rank_source;
  std::map<std::string, int> in_a_step;  // calls by name
  const char* as = nullptr;              // a command that prints the same without the library; null = `command`
  bool tells_local_rank = true;          // sets LOCAL_RANK before making the group
};
void PrintTo(const Launcher& launcher, std::ostream* out) { *out << launcher.command; }

const char* const kSgd = "Optimizer.step#SGD.step";
const char* const kDdp = "DistributedDataParallel.forward";

const char* const kActors = "launchers/actors.py";

const Launcher kLaunchers[] = {
    {"StartsItself", "launchers/starts_itself.py", "Optimizer.step#Adam.step", "torch.distributed", {{kDdp, 1}}},
    {"StartsItselfProfiled",
     "launchers/starts_itself.py --profiler",
     "Optimizer.step#Adam.step",
     "torch.distributed",
     {{kDdp, 1},
      {"[pl][profile][Strategy]DDPStrategy.training_step", 1},
      {"[pl][profile][Strategy]DDPStrategy.backward", 1}},
     "launchers/starts_itself.py"},
    {"Actors", kActors, kSgd, "RANK", {{kDdp, 1}}},
    {"ActorsWithACopy", "launchers/actors.py --copy", kSgd, "RANK", {{kDdp, 1}}, kActors},
    {"ActorsByTcp", "launchers/actors.py --tcp", kSgd, "torch.distributed", {{kDdp, 1}}, kActors, false},
    {"ActorsByTcpWithACopy",
     "launchers/actors.py --tcp --copy",
     kSgd,
     "torch.distributed",
     {{kDdp, 1}},
     kActors,
     false},
};

/// Lines of gloo come in any order.
std::multiset<std::string> others_lines(const Outcome& outcome) {
  std::istringstream lines(outcome.err);
  std::multiset<std::string> others;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("profshim: ", 0) != 0) others.insert(line);
  }
  return others;
}

const Outcome& without_us(const std::string& command) {
  static std::map<std::string, Outcome> known;
  const auto [found, is_new] = known.try_emplace(command);
  if (is_new) {
    const ScratchFolder scratch;
    Job job = torch_job(scratch, Launch::kAlone, command);
    job.preload = false;
    found->second = run(job);
  }
  return found->second;
}

RUNS_IN_ONE_PROCESS(TorchLaunchers);

class TorchLaunchers : public testing::TestWithParam<Launcher> {};

TEST_P(TorchLaunchers, HaveOneTraceForEachRankOnly) {
  const Launcher& launcher = GetParam();
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Both both = {without_us(launcher.as != nullptr ? launcher.as : launcher.command),
                     run(torch_job(scratch, Launch::kAlone, launcher.command))};

  expect_same(both);
  const auto& [without, with] = both;
  EXPECT_EQ(others_lines(with), others_lines(without));
  EXPECT_EQ(with.shim_lines().size(), 1u) << with.err;
  EXPECT_NE(with.err.find("steps from torch \"Optimizer.step#"), std::string::npos) << with.err;
  EXPECT_NE(with.err.find(", 20 seen, confidence "), std::string::npos) << with.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << with.err;
  for (int rank = 0; rank < 2; ++rank) {
    const SeenTrace& trace = traces[static_cast<std::size_t>(rank)];
    SCOPED_TRACE(trace.path);
    EXPECT_EQ(trace.rank(), rank);
    EXPECT_EQ(json_member(trace.metadata.at("distributedInfo"), "world_size"), "2");
    EXPECT_EQ(json_member(trace.metadata.at("distributedInfo"), "backend"), "gloo");
    EXPECT_EQ(trace.property("rank_source"), launcher.rank_source);
    if (launcher.tells_local_rank) {
      EXPECT_EQ(trace.property("local_rank"), std::to_string(rank));
      EXPECT_EQ(trace.property("node_rank"), "0");
    }
    EXPECT_EQ(trace.property("problems"), "[]");
    EXPECT_EQ(trace.property("dropped_events"), "0");
    expect_whole_steps(trace, launcher.optimizer);
    for (const auto& [name, calls] : launcher.in_a_step) EXPECT_EQ(calls_in_step(trace, 12, name), calls) << name;
    const Outcome verdict = profshim({"verify", trace.path});
    EXPECT_EQ(verdict.ending(), "exit 0") << verdict.out;
  }
}

Job job_with_cuda(const ScratchFolder& scratch, const std::string& command) {
  const std::string fake = built("tests/fakes/cuda13/libcuda.so.1");
  Job job = torch_job(scratch, Launch::kAlone, command);
  job.environment.emplace_back("LD_LIBRARY_PATH", fake.substr(0, fake.rfind('/')));
  job.environment.emplace_back("PROFSHIM_ACTIVITIES", "cpu");  // PyPI's PyTorch loads a real CUPTI
  return job;
}

// WORLD_SIZE announces other ranks, so CUDA must not make the process a job of one rank.
TEST(TorchLaunchersWithCuda, AreNotTakenForJobsOfOne) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const Job job = job_with_cuda(scratch, "launchers/starts_itself.py --cuda");

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << outcome.err;
  for (int rank = 0; rank < 2; ++rank) {
    const SeenTrace& trace = traces[static_cast<std::size_t>(rank)];
    EXPECT_EQ(trace.rank(), rank);
    EXPECT_EQ(trace.property("rank_source"), "torch.distributed");
    EXPECT_EQ(trace.property("problems"), "[]");
    expect_whole_steps(trace, "Optimizer.step#Adam.step");
  }
}

TEST(TorchLaunchersWithCuda, DoNotTakeTheirRanksPlaceByCountingDevices) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(job_with_cuda(scratch, "launchers/counts_devices.py " + torch_app("two_optimizers.py")));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].property("rank_source"), "RANK");
  EXPECT_EQ(outcome.err.find("nothing is recorded"), std::string::npos) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Real, TorchLaunchers, testing::ValuesIn(kLaunchers),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace profshim::e2e
