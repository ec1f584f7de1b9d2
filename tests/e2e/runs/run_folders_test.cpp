#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

/// Returns the ranks of each run folder, in the order of the folders' names.
std::vector<std::multiset<int>> ranks_by_folder(const std::string& parent) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(parent)) folders.insert(entry.path());
  std::vector<std::multiset<int>> found;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) {
      ADD_FAILURE() << folder << " is left over";
      continue;
    }
    found.emplace_back();
    for (const SeenTrace& trace : read_folder(folder)) found.back().insert(trace.rank());
  }
  return found;
}

Job job_of(const ScratchFolder& scratch, const std::string& text) {
  Job job = shell(text);
  job.folder = scratch.path();
  job.environment = {{"PROFSHIM_RANKS", "all"}, {"PROFSHIM_STEPS", "2-3"}};
  return job;
}

const std::vector<std::multiset<int>> kTwoRuns = {{0}, {0}};
const std::string kHeat = built("demo/heat") + " 20 64";

TEST(RunFolders, EachRunInALoopOfAShellHasItsOwn) {
  const ScratchFolder scratch;
  const Outcome outcome = run(job_of(scratch, "for i in 1 2; do " + kHeat + "; done"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(ranks_by_folder(scratch / "profshim"), kTwoRuns) << outcome.err;
  const Outcome summary = profshim({"summary", scratch / "profshim"});
  EXPECT_EQ(summary.ending(), "exit 2") << summary.out;
  EXPECT_NE(summary.err.find("name the traces of one job"), std::string::npos) << summary.err;
}

bool has_terminals() {
  const int fd = posix_openpt(O_RDWR | O_NOCTTY);
  const bool has = fd >= 0 && ptsname(fd) != nullptr && access(ptsname(fd), R_OK) == 0;
  if (fd >= 0) close(fd);
  return has;
}

TEST(RunFolders, EachRunInATerminalHasItsOwn) {
  if (!has_terminals()) GTEST_SKIP() << "this machine has no pseudo-terminals (/dev/pts)";
  const ScratchFolder scratch;
  Job job = job_of(scratch, "script -qec 'bash --norc -i' /dev/null");
  job.input = kHeat + "\n" + kHeat + " &\nwait\nexit\n";

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(ranks_by_folder(scratch / "profshim"), kTwoRuns) << outcome.out;
}

TEST(RunFolders, EachJobOfAScriptUnderProfshimRunHasItsOwn) {
  const ScratchFolder scratch;
  Job job = job_of(scratch, built("profshim") + " run -- sh -c '" + kHeat + "; " + kHeat + "'");
  job.preload = false;

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(ranks_by_folder(scratch / "profshim"), kTwoRuns) << outcome.err;
}

TEST(RunFolders, RunsOfMpirunHaveTheirOwn) {
  const ScratchFolder scratch;
  const std::string mpirun = "mpirun.openmpi --allow-run-as-root --oversubscribe -np 2 ";
  const Outcome outcome = run(job_of(scratch, mpirun + kHeat + "; " + mpirun + kHeat));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(ranks_by_folder(scratch / "profshim"), (std::vector<std::multiset<int>>{{0, 1}, {0, 1}})) << outcome.err;
}

/// Runs a program with `steps` steps, and becomes one with ten steps.
Outcome run_program_first(const ScratchFolder& scratch, int steps) {
  const std::string program = built("tests/gpu/gpu_job_fake"), fakes = built("tests/fakes/cuda13/libcudart.so.13");
  Job job;
  job.command = {"python3", "-c",
                 "import os, subprocess\nprogram = '" + program + "'\nsubprocess.run([program, 'mixed', '" +
                     std::to_string(steps) + "', '5'], check=True)\nos.execv(program, [program, 'mixed', '10', '5'])"};
  job.folder = scratch.path();
  job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                     {"PROFSHIM_FOLDER", scratch / "traces"},
                     {"PROFSHIM_STEPS", "5-6"},
                     {"PROFSHIM_SET", "steps.source=nvtx steps.pattern='step *'"}};
  return run(job);
}

// Seen with Lightning on a GPU machine: a program that the job ran took the folder, and the job was not recorded.
TEST(RunFolders, AProgramThatTheJobHasRunBeforeLeavesItTheFolder) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  const Outcome outcome = run_program_first(scratch, 2);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].steps(), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(outcome.err.find("another run"), std::string::npos) << outcome.err;
}

TEST(RunFolders, ARunWithoutTracesLeavesItsFolderToTheNext) {
  const ScratchFolder scratch;
  const auto run_with = [&scratch](const std::string& steps) {
    Job job = mpirun(Mpi::kOpenMpi, 2, {built("tests/apps/openmpi/allreduce_loop"), "20"});
    job.environment.insert(job.environment.end(),
                           {{"PROFSHIM_FOLDER", scratch / "traces"},
                            {"PROFSHIM_RANKS", "all"},
                            {"PROFSHIM_STEPS", steps},
                            {"PROFSHIM_SET", "steps.source=collective steps.pattern=MPI_Allreduce"}});
    return run(job);
  };

  EXPECT_NE(run_with("500-510").err.find("no window was reached"), std::string::npos);
  const Outcome second = run_with("5-6"), third = run_with("7-8");

  EXPECT_EQ(second.err.find("another run"), std::string::npos) << second.err;
  EXPECT_NE(third.err.find("holds the traces of another run"), std::string::npos) << third.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 2u) << second.err;
  for (const SeenTrace& trace : traces) EXPECT_EQ(trace.steps(), (std::vector<std::int64_t>{5, 6}));
}

TEST(RunFolders, TracesOfAProgramThatTheJobHasRunStay) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  const Outcome outcome = run_program_first(scratch, 8);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(read_folder(scratch / "traces").size(), 1u) << outcome.err;
  EXPECT_EQ(read_folder(scratch / "traces-2").size(), 1u) << outcome.err;
}

struct Start {
  const char* name;
  const char* command;  // starts one rank; its arguments follow
};
void PrintTo(const Start& start, std::ostream* out) { *out << start.name; }

class TorchRanksApart : public testing::TestWithParam<Start> {};

// Two launches, one after the other, at one address.
TEST_P(TorchRanksApart, ComeTogetherInOneFolderForEachLaunch) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const std::string rank = "(export RANK=$rank; " + std::string(GetParam().command) + " " + torch_python() + " " +
                           torch_app("train_ddp.py") + ") &";
  Job job = job_of(scratch, "export MASTER_PORT=$((10000 + $$ % 20000)); for launch in 1 2; do for rank in 0 1; do " +
                                rank + " done; wait; done");
  for (const auto& [name, value] : {std::pair{"WORLD_SIZE", "2"}, std::pair{"MASTER_ADDR", "127.0.0.1"}})
    job.environment.emplace_back(name, value);

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(ranks_by_folder(scratch / "profshim"), (std::vector<std::multiset<int>>{{0, 1}, {0, 1}})) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Each, TorchRanksApart,
                         testing::Values(Start{"Subshell", ""}, Start{"Timeout", "timeout 100"},
                                         Start{"Terminal", "setsid -w"}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace profshim::e2e
