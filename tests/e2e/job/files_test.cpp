#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

std::string spec_with_output(const std::string& output) {
  return "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"nvtx\"\npattern = \"iteration *\"\n"
         "[schedule]\nskip_first = 2\nwarmup = 1\nactive = 3\nrepeat = 2\n[output]\n" +
         output;
}

Outcome run_heat(const ScratchFolder& scratch, const std::string& spec, int ranks = 2, int steps = 20) {
  Job job = mpirun(Mpi::kOpenMpi, ranks, {built("demo/heat"), std::to_string(steps), "64"});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
  job.folder = scratch.path();
  return run(job);
}

std::vector<std::string> names_below(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& path : traces_below(folder)) names.push_back(fs::relative(path, folder).string());
  return names;
}

using Files = NeedsNvtx;

TEST_F(Files, DefaultNamesHoldRunStepAndRank) {
  const ScratchFolder scratch;

  const Outcome outcome = run_heat(
      scratch, spec_with_output("folder = \"out/{run_name}\"\ngzip = false\n") + "[profile]\nrun_name = \"trial\"\n");

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(names_below(scratch / "out"),
            (std::vector<std::string>{"trial/step3/rank0.3.pt.trace.json", "trial/step3/rank1.3.pt.trace.json",
                                      "trial/step7/rank0.7.pt.trace.json", "trial/step7/rank1.7.pt.trace.json"}));
}

TEST_F(Files, CollidingNamesAreMadeDifferent) {
  const ScratchFolder scratch;

  const Outcome outcome =
      run_heat(scratch, spec_with_output("folder = \"out\"\nfilename = \"trace.json\"\ngzip = false\n"), 4);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "out");
  EXPECT_EQ(traces.size(), 8u) << outcome.err;
  std::set<std::pair<int, std::int64_t>> windows;
  for (const SeenTrace& trace : traces) {
    EXPECT_TRUE(trace.readable) << trace.path << trace.error;
    windows.insert({trace.rank(), trace.steps().empty() ? -1 : trace.steps()[0]});
  }
  EXPECT_EQ(windows.size(), 8u);
}

TEST_F(Files, EveryVariableIsFilledIn) {
  const ScratchFolder scratch;
  const std::string pattern =
      "{run_name}-{rank}-{local_rank}-{world_size}-{local_world_size}-{node_rank}-{host}-{pid}-{step}-{first_step}-{"
      "last_step}-"
      "{window}-{time}-{time_ns}.json";

  const Outcome outcome =
      run_heat(scratch, spec_with_output("folder = \"out\"\nfilename = \"" + pattern + "\"\ngzip = false\n"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto names = names_below(scratch / "out");
  ASSERT_EQ(names.size(), 4u) << outcome.err;
  for (const std::string& name : names) EXPECT_EQ(name.find_first_of("{}"), std::string::npos) << name;
}

TEST_F(Files, ASecondRunIntoTheSameFolderIsRefused) {
  const ScratchFolder scratch;
  const std::string spec = spec_with_output("folder = \"out\"\ngzip = false\noverwrite = false\n");
  run_heat(scratch, spec);
  const auto first = files_below(scratch / "out");
  const std::string text = text_of_file(traces_below(scratch / "out").at(0));

  const Outcome second = run_heat(scratch, spec);

  EXPECT_EQ(second.ending(), "exit 0");
  EXPECT_FALSE(second.shim_lines().empty());
  EXPECT_LE(second.shim_lines().size(), 2u) << second.err;
  EXPECT_EQ(files_below(scratch / "out"), first);
  EXPECT_EQ(text_of_file(traces_below(scratch / "out").at(0)), text);
}

TEST_F(Files, OverwriteTrueReplaces) {
  const ScratchFolder scratch;
  const std::string spec = spec_with_output("folder = \"out\"\ngzip = false\noverwrite = true\n");
  run_heat(scratch, spec);
  const auto first = traces_below(scratch / "out");
  const std::string text = text_of_file(first.at(0));

  const Outcome second = run_heat(scratch, spec);

  EXPECT_LE(second.shim_lines().size(), 1u) << second.err;  // rank 0's closing line
  EXPECT_EQ(traces_below(scratch / "out"), first);
  EXPECT_NE(text_of_file(first.at(0)), text);
}

TEST_F(Files, OverwriteNewTakesASibling) {
  const ScratchFolder scratch;
  const std::string spec = spec_with_output("folder = \"out/here\"\ngzip = false\noverwrite = \"new\"\n");
  run_heat(scratch, spec);
  const auto first = traces_below(scratch / "out");
  const std::string text = text_of_file(first.at(0));

  const Outcome second = run_heat(scratch, spec);

  EXPECT_EQ(second.ending(), "exit 0");
  EXPECT_EQ(traces_below(scratch / "out").size(), 2 * first.size()) << second.err;
  EXPECT_EQ(text_of_file(first.at(0)), text);
}

TEST_F(Files, GzipFileIsOneReadableMember) {
  const ScratchFolder scratch;

  run_heat(scratch, spec_with_output("folder = \"out\"\ngzip = true\n"));

  const auto paths = traces_below(scratch / "out");
  ASSERT_EQ(paths.size(), 4u);
  for (const std::string& path : paths) {
    EXPECT_EQ(path.substr(path.size() - 8), ".json.gz");
    EXPECT_EQ(path.find(".gz.gz"), std::string::npos);
    const Outcome unpacked = run(Job{.command = {"gzip", "-dc", path}, .preload = false});
    EXPECT_EQ(unpacked.ending(), "exit 0") << unpacked.err;
    EXPECT_NE(unpacked.out.find("\"traceEvents\""), std::string::npos);
    EXPECT_TRUE(read_seen(path).readable);
  }
}

TEST_F(Files, NothingTemporaryIsLeft) {
  const ScratchFolder scratch;

  run_heat(scratch, spec_with_output("folder = \"out\"\ngzip = false\n"));

  for (const std::string& file : files_below(scratch / "out")) EXPECT_EQ(file.find(".tmp"), std::string::npos) << file;
  EXPECT_EQ(files_below("/dev/shm"), std::vector<std::string>{});
}

TEST_F(Files, EveryTraceIsAccepted) {
  const ScratchFolder scratch;
  run_heat(scratch, spec_with_output("folder = \"out\"\n"), 4);
  std::vector<std::string> verify = {"verify"};
  for (const std::string& path : traces_below(scratch / "out")) verify.push_back(path);
  ASSERT_EQ(verify.size(), 9u);

  const Outcome outcome = profshim(verify);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.out << outcome.err;
}

TEST_F(Files, LsNamesEachWindow) {
  const ScratchFolder scratch;
  run_heat(scratch, spec_with_output("folder = \"out\"\ngzip = false\n"));

  const Outcome outcome = profshim({"ls", scratch / "out"});

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  for (const char* name :
       {"rank0.3.pt.trace.json", "rank1.3.pt.trace.json", "rank0.7.pt.trace.json", "rank1.7.pt.trace.json"})
    EXPECT_NE(outcome.out.find(name), std::string::npos) << outcome.out;
}

TEST_F(Files, FolderThatCannotBeMadeIsReportedInOneLine) {
  const ScratchFolder scratch;
  scratch.write("file", "in the way");

  const Outcome outcome = run_heat(scratch, spec_with_output("folder = \"file/out\"\n"), 1);

  EXPECT_EQ(outcome.ending(), "exit 0");
  ASSERT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
  EXPECT_NE(outcome.shim_lines()[0].find("file/out"), std::string::npos);
}

TEST_F(Files, RelativeFolderIsResolvedAtLaunchEvenIfTheJobChangesDirectory) {
  const ScratchFolder scratch;
  Job job = mpirun(
      Mpi::kOpenMpi, 1,
      {"/usr/bin/python3", "-c", "import os\nos.chdir('/')\nfrom mpi4py import MPI\nMPI.COMM_WORLD.allreduce(1)\n"});
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec("out")));
  job.folder = scratch.path();

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(traces_below(scratch / "out").size(), 1u) << outcome.err;
}

TEST_F(Files, RanksThatContradictTheEnvironmentAreReportedAndNotMixed) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 3, {built("demo/heat"), "20", "64"});
  job.environment.emplace_back("PROFSHIM_SPEC",
                               scratch.write("spec.toml", spec_with_output("folder = \"out\"\ngzip = false\n")));
  job.environment.emplace_back("RANK", "0");
  job.folder = scratch.path();

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0");
  EXPECT_EQ(traces_below(scratch / "out").size(), 6u) << outcome.err;
  EXPECT_NE(outcome.err.find("RANK=0"), std::string::npos) << outcome.err;
  std::set<int> ranks;
  for (const SeenTrace& trace : read_folder(scratch / "out")) ranks.insert(trace.rank());
  EXPECT_EQ(ranks, (std::set<int>{0, 1, 2}));
}

// The disk is a tmpfs of 1 MiB, which only root can mount.
class FullDisk : public testing::Test {
 public:
  ~FullDisk() override { umount2((scratch_ / "disk").c_str(), MNT_DETACH); }

 private:
  void TestBody() override {
    fs::create_directory(scratch_ / "disk");
    ASSERT_EQ(mount("tmpfs", (scratch_ / "disk").c_str(), "tmpfs", 0, "size=1m"), 0);
    const std::string spec =
        "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"none\"\n[limits]\ndisk_free = 0\n"
        "[output]\nfolder = \"" +
        (scratch_ / "disk/out") + "\"\ngzip = false\n";

    const Outcome outcome = run_heat(scratch_, spec, 1, 20000);

    EXPECT_EQ(outcome.ending(), "exit 0");
    EXPECT_NE(outcome.out.find("20000 steps"), std::string::npos);
    EXPECT_GE(outcome.shim_lines().size(), 1u);
    EXPECT_LE(outcome.shim_lines().size(), 2u) << outcome.err;
    for (const SeenTrace& trace : read_folder(scratch_ / "disk"))
      EXPECT_TRUE(trace.readable) << trace.path << trace.error;
  }
  ScratchFolder scratch_;
};

// The test is not registered where it cannot run, because a skipped test would look like a pass.
bool may_mount() {
  const ScratchFolder scratch;
  if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=1m") != 0) return false;
  umount2(scratch.path().c_str(), MNT_DETACH);
  return true;
}
[[maybe_unused]] const bool kRegistered =
    may_mount() && testing::RegisterTest("FullDisk", "LeavesTheJobAlone", nullptr, nullptr, __FILE__, __LINE__,
                                         []() -> testing::Test* { return new FullDisk; }) != nullptr;

}  // namespace
}  // namespace profshim::e2e
