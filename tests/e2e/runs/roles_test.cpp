// Processes of one launch that have the same rank: rollout engines beside trainers, jobs that one program starts.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "e2e/support/built_programs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

/// One program starts a process of rank 0 for each role. Each has a TMPDIR of its own: jobs of Open MPI 4 that start
/// without mpirun at one time make the same folder there, and those that lose end with "File exists".
Job processes_of(const ScratchFolder& scratch, const std::string& roles, const std::string& ranks = "all",
                 const std::string& folder = "") {
  Job job;
  job.command = {"python3",
                 "-c",
                 "import os, subprocess, sys\n"
                 "from tempfile import TemporaryDirectory\n"
                 "own = dict(os.environ, RANK='0', WORLD_SIZE='1', LOCAL_RANK='0', LOCAL_WORLD_SIZE='1')\n"
                 "roles = {TemporaryDirectory(): role for role in sys.argv[1].split(',')}\n"
                 "started = [subprocess.Popen(sys.argv[2:], env=dict(own, PROFSHIM_ROLE=role, TMPDIR=folder.name))\n"
                 "           for folder, role in roles.items()]\n"
                 "sys.exit(max(process.wait() for process in started))\n",
                 roles,
                 built("demo/heat"),
                 "300",
                 "64"};
  job.folder = scratch.path();
  job.environment = {{"PROFSHIM_RANKS", ranks}, {"PROFSHIM_STEPS", "2-3"}};
  if (!folder.empty()) job.environment.emplace_back("PROFSHIM_FOLDER", folder);
  return job;
}

/// Returns the roles in the traces of each folder below `parent`.
std::map<std::string, std::multiset<std::string>> roles_by_folder(const std::string& parent) {
  std::map<std::string, std::multiset<std::string>> found;
  for (const auto& entry : fs::directory_iterator(parent)) {
    for (const SeenTrace& trace : read_folder(entry.path())) {
      const std::string scope = trace.property("scope");
      const std::size_t at = scope.find("\"role\":\"") + 8;
      found[entry.path().filename()].insert(scope.substr(at, scope.find('"', at) - at));
    }
  }
  return found;
}

TEST(Roles, ProcessesOfEqualRankHaveFoldersOfTheirOwn) {
  for (const char* roles : {"trainer,rollout", "trial,trial", ","}) {
    SCOPED_TRACE(roles);
    const ScratchFolder scratch;
    const Outcome outcome = run(processes_of(scratch, roles));

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto found = roles_by_folder(scratch / "profshim");
    ASSERT_EQ(found.size(), 2u) << outcome.err;
    EXPECT_EQ(found.begin()->second.size() + found.rbegin()->second.size(), 2u);
    EXPECT_EQ(found.rbegin()->first, found.begin()->first + "-2");
    EXPECT_EQ(outcome.err.find("nothing is recorded"), std::string::npos) << outcome.err;
  }
}

TEST(Roles, ProcessesOfEqualRankShareNoFolderThatTheSpecNames) {
  const ScratchFolder scratch;
  const Outcome outcome = run(processes_of(scratch, "trainer,rollout,trainer", "all", scratch / "out/traces"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  std::multiset<std::string> roles;
  for (const auto& [folder, of_folder] : roles_by_folder(scratch / "out")) {
    EXPECT_EQ(of_folder.size(), 1u) << folder;
    roles.insert(of_folder.begin(), of_folder.end());
  }
  EXPECT_EQ(roles, (std::multiset<std::string>{"rollout", "trainer", "trainer"})) << outcome.err;
}

/// Trainers of another world size than the engines beside them, under one name.
TEST(Roles, GroupsThatAShellStartsHaveFoldersOfTheirOwn) {
  const ScratchFolder scratch;
  Job job = shell(
      "for size in 2 9; do for rank in 0 1; do RANK=$rank WORLD_SIZE=$size LOCAL_RANK=$rank LOCAL_WORLD_SIZE=$size " +
      built("tests/apps_gpu/launch_loop") +
      " 2000 100 & p=\"$p $!\"; done; done; for i in $p; do wait $i || exit 1; done");
  job.folder = scratch.path();
  const std::string cuda = built("tests/fakes/cuda13/libcudart.so.13");
  job.environment = {{"LD_LIBRARY_PATH", cuda.substr(0, cuda.rfind('/'))},
                     {"PROFSHIM_RANKS", "all"},
                     {"PROFSHIM_STEPS", "2-3"},
                     {"PROFSHIM_RUN_NAME", "rl"},
                     {"PROFSHIM_SET", "steps.source=kernel steps.pattern=*adam*"}};
  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.err.find("nothing is recorded"), std::string::npos) << outcome.err;
  std::multiset<std::string> sizes;
  for (const char* folder : {"profshim/rl", "profshim/rl-2"}) {
    for (const SeenTrace& trace : read_folder(scratch / folder))
      sizes.insert(folder + (" " + json_member(trace.metadata.at("distributedInfo"), "world_size")));
  }
  EXPECT_EQ(sizes.size(), 4u) << outcome.err;
  EXPECT_EQ(std::set<std::string>(sizes.begin(), sizes.end()).size(), 2u) << "no folder holds ranks of both";
}

TEST(Roles, SelectProcesses) {
  const ScratchFolder scratch;
  const Outcome outcome = run(processes_of(scratch, "trainer,rollout", "role:roll* & local:0"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto found = roles_by_folder(scratch / "profshim");
  ASSERT_EQ(found.size(), 1u) << outcome.err;
  EXPECT_EQ(found.begin()->second, (std::multiset<std::string>{"rollout"}));
}

TEST(Roles, NameFoldersAndAreListed) {
  const ScratchFolder scratch;
  const Outcome outcome = run(processes_of(scratch, "trainer,rollout", "all", scratch / "out/{role}"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(roles_by_folder(scratch / "out"),
            (std::map<std::string, std::multiset<std::string>>{{"trainer", {"trainer"}}, {"rollout", {"rollout"}}}))
      << outcome.err;
  const Outcome list = profshim({"ls", scratch / "out/rollout"});
  EXPECT_NE(list.out.find(" RANK ROLE    STATE"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("    0 rollout finished"), std::string::npos) << list.out;
}

}  // namespace
}  // namespace profshim::e2e
