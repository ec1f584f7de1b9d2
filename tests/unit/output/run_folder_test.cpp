#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "profshim/output.h"
#include "profshim/output/manifest.h"
#include "unit/temporary_folder.h"

namespace profshim::output {
namespace {

constexpr std::int64_t kNow = 1'790'000'000'000'000'000;

TEST(OpenRun, AllRanksOfAJobShareOneBase) {
  test::TemporaryFolder folder;
  const std::int64_t quarter = 7889238'000'000'000;

  const RunFolder first = open_run(Spec{}, folder.path() + "/run", {.key = "job1", .readable = "j"}, kNow);
  const RunFolder second = open_run(Spec{}, folder.path() + "/run", {.key = "job1", .readable = "j"}, kNow + quarter);

  EXPECT_EQ(first.problem, "");
  EXPECT_EQ(second.problem, "");
  EXPECT_EQ(first.base_time_ns, second.base_time_ns);
  EXPECT_EQ(first.base_time_ns % quarter, 0);
}

void age(const std::string& path) {
  const auto now = std::filesystem::last_write_time(path);
  std::filesystem::last_write_time(path, now - std::chrono::seconds(60));
}

JobIdentity torchrun(const std::string& host, const std::string& launcher, std::int64_t started_s) {
  return {.key = host + "/" + launcher,
          .readable = launcher,
          .rendezvous = "a:29500/16",
          .host = host,
          .started_s = started_s};
}

TEST(OpenRun, HostsWithOneRendezvousAreOneJob) {
  test::TemporaryFolder folder;
  const RunFolder first = open_run(Spec{}, folder.path() + "/run", torchrun("a", "100", 5000), kNow);
  const RunFolder second = open_run(Spec{}, folder.path() + "/run", torchrun("b", "900", 5040), kNow);
  const RunFolder third = open_run(Spec{}, folder.path() + "/run", torchrun("b", "900", 5040), kNow);

  EXPECT_EQ(first.problem + second.problem + third.problem, "");
  EXPECT_EQ(second.base_time_ns, first.base_time_ns);
}

TEST(OpenRun, ALaterJobWithTheSameRendezvousIsAnotherRun) {
  test::TemporaryFolder folder;
  ASSERT_EQ(open_run(Spec{}, folder.path() + "/run", torchrun("a", "100", 5000), kNow).problem, "");

  EXPECT_NE(open_run(Spec{}, folder.path() + "/run", torchrun("a", "101", 5040), kNow).problem, "");
  EXPECT_NE(open_run(Spec{}, folder.path() + "/run", torchrun("b", "900", 9000), kNow).problem, "");
  JobIdentity elsewhere = torchrun("b", "900", 5040);
  elsewhere.rendezvous = "b:29500/16";
  EXPECT_NE(open_run(Spec{}, folder.path() + "/run", elsewhere, kNow).problem, "");
}

TEST(OpenRun, AnotherRunIsRefusedByDefault) {
  test::TemporaryFolder folder;
  ASSERT_EQ(open_run(Spec{}, folder.path() + "/run", {.key = "job1", .readable = "j"}, kNow).problem, "");

  const RunFolder second = open_run(Spec{}, folder.path() + "/run", {.key = "job2", .readable = "j"}, kNow);

  EXPECT_NE(second.problem.find("output.overwrite"), std::string::npos) << second.problem;
}

TEST(OpenRun, OverwriteNewUsesOneNumberedSiblingForAllRanks) {
  test::TemporaryFolder folder;
  Spec spec;
  spec.output.overwrite = Overwrite::kNew;
  open_run(spec, folder.path() + "/run", {.key = "job1", .readable = "j"}, kNow);

  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job2", .readable = "j"}, kNow).path,
            folder.path() + "/run-2");
  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job2", .readable = "j"}, kNow).path,
            folder.path() + "/run-2");
  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job3", .readable = "j"}, kNow).path,
            folder.path() + "/run-3");
}

TEST(OpenRun, OverwriteTrueReusesTheFolder) {
  test::TemporaryFolder folder;
  Spec spec;
  spec.output.overwrite = Overwrite::kYes;
  open_run(spec, folder.path() + "/run", {.key = "job1", .readable = "j"}, kNow);

  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job2", .readable = "j"}, kNow).problem, "");
  EXPECT_EQ(open_run(Spec{}, folder.path() + "/run", {.key = "job2", .readable = "j"}, kNow).problem, "");
}

TEST(OpenRun, OverwriteRefusesTheFolderOfARunningJob) {
  const test::TemporaryFolder folder;
  Spec spec;
  spec.output.overwrite = Overwrite::kYes;
  const std::string run = open_run(spec, folder.path() + "/run", {.key = "job1", .readable = "j"}, kNow).path;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string parent = " " + std::to_string(getppid()) + " ";
  const auto claim = [&](const std::string& of) { std::ofstream(run + "/.claim-rank0") << of << '\n'; };

  claim(host + parent + std::to_string(process_start_time(getppid())));
  EXPECT_NE(open_run(spec, run, {.key = "job2", .readable = "j"}, kNow).problem.find("output.overwrite to \"new\""),
            std::string::npos);
  claim("elsewhere" + parent + "1");
  EXPECT_NE(open_run(spec, run, {.key = "job3", .readable = "j"}, kNow).problem, "") << "it gave a sign a moment ago";
  age(run + "/.claim-rank0");
  EXPECT_EQ(open_run(spec, run, {.key = "job3", .readable = "j"}, kNow).problem, "")
      << "nobody could ever overwrite it";
  claim(host + parent + "1");  // reused pids have other start times
  EXPECT_EQ(open_run(spec, run, {.key = "job4", .readable = "j"}, kNow).problem, "");
}

TEST(OpenRun, ReportsAFolderThatCannotBeCreated) {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";

  const RunFolder run = open_run(Spec{}, folder.path() + "/file/run", {.key = "job1", .readable = "j"}, kNow);

  EXPECT_NE(run.problem.find("Not a directory"), std::string::npos) << run.problem;
}

TEST(ClaimRank, ALiveOwnerKeepsItsClaimAndADeadOneLosesIt) {
  test::TemporaryFolder folder;
  int ready[2];
  int leave[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(leave), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string owner;
    const char answer = claim_rank(folder.path(), 0, owner) ? 'y' : 'n';
    char byte;
    const bool told = write(ready[1], &answer, 1) == 1 && read(leave[0], &byte, 1) == 1;
    _exit(told ? 0 : 1);
  }
  close(ready[1]);  // read() returns if the child dies
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');

  std::string owner;
  EXPECT_FALSE(claim_rank(folder.path(), 0, owner));
  EXPECT_NE(owner.find(std::to_string(child)), std::string::npos) << owner;
  EXPECT_TRUE(claim_rank(folder.path(), 1, owner));

  ASSERT_EQ(write(leave[1], "x", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(claim_rank(folder.path(), 0, owner)) << owner;
  for (const int fd : {ready[0], leave[0], leave[1]}) close(fd);
}

void claim_from_elsewhere(const std::string& folder) {
  std::ofstream(folder + "/.claim-rank0") << "node9 4711 99 4026531836 another-boot\n";
}

TEST(ClaimRank, TakesOverTheClaimOfASilentProcessOnAnotherMachine) {
  const test::TemporaryFolder folder;
  claim_from_elsewhere(folder.path());
  age(folder.path() + "/.claim-rank0");
  std::string owner;

  EXPECT_TRUE(claim_rank(folder.path(), 0, owner));

  EXPECT_EQ(owner, "process 4711 on node9");
  EXPECT_TRUE(claim_rank(folder.path(), 1, owner));
  EXPECT_EQ(owner, "") << "nobody's before";
}

TEST(ClaimRank, RespectsTheClaimOfALiveProcessOnAnotherMachine) {
  const test::TemporaryFolder folder;
  claim_from_elsewhere(folder.path());
  age(folder.path() + "/.claim-rank0");
  touch_claim(folder.path(), 0);
  std::string owner;

  EXPECT_FALSE(claim_rank(folder.path(), 0, owner));

  EXPECT_EQ(owner,
            "is already recorded in " + folder.path() +
                " by process 4711 on node9; if that is another run, set another output.folder or profile.run_name");
  EXPECT_TRUE(is_claimed(folder.path(), 0));
}

TEST(ClaimRank, ReleaseKeepsTheClaimOfAnotherProcess) {
  const test::TemporaryFolder folder;
  claim_from_elsewhere(folder.path());

  release_claim(folder.path(), 0);

  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/.claim-rank0"));
}

TEST(ClaimRank, ReportsAMissingFolder) {
  const test::TemporaryFolder folder;
  std::string owner;

  EXPECT_FALSE(claim_rank(folder.path() + "/gone", 0, owner));

  EXPECT_EQ(owner, "cannot be recorded in " + folder.path() +
                       "/gone: No such file or directory; set output.folder to a writable folder");
}

TEST(ClaimRank, NamesAFileThatIsNotAClaim) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder.path() + "/.claim-rank0").c_str(), 0666), 0);
  std::filesystem::create_symlink("/dev/zero", folder.path() + "/.claim-rank1");
  std::string owner;

  EXPECT_FALSE(claim_rank(folder.path(), 0, owner));
  EXPECT_NE(owner.find("remove " + folder.path() + "/.claim-rank0"), std::string::npos) << owner;
  EXPECT_FALSE(claim_rank(folder.path(), 1, owner));
}

TEST(OpenRun, IgnoresAnIdentityFileOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const test::TemporaryFolder folder;
  ASSERT_EQ(open_run(Spec{}, folder.path(), {.key = "job1", .readable = "j"}, kNow).problem, "");
  ASSERT_EQ(chown((folder.path() + "/.profshim-run").c_str(), 65534, 65534), 0);

  EXPECT_NE(open_run(Spec{}, folder.path(), {.key = "job1", .readable = "j"}, kNow).problem, "");
}

TEST(Manifest, ReadsBackWhatWasWritten) {
  test::TemporaryFolder folder;
  Manifest m;
  m.rank.rank = 2;
  m.rank.world_size = 4;
  m.run_name = "quote \" in it";
  m.state = "active";
  m.windows.push_back({1, 11, 13, "step11/rank2.11.pt.trace.json", 1000, 50, 3, "written", false, true, true});
  m.problems = {"a problem"};
  ASSERT_TRUE(write_manifest(folder.path(), m));

  const auto found = read_manifests(folder.path());

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].run_name, m.run_name);
  ASSERT_EQ(found[0].windows.size(), 1u);
  const ManifestWindow& w = found[0].windows[0];
  EXPECT_EQ(w.file, m.windows[0].file);
  EXPECT_EQ(w.last_step, 13);
  EXPECT_EQ(w.dropped, 3u);
  EXPECT_FALSE(w.complete);
  EXPECT_TRUE(w.truncated);
  EXPECT_TRUE(w.recovered);
  EXPECT_EQ(found[0].problems, m.problems);
}

TEST(Manifest, ReportsAnUnreadableFile) {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/manifest-rank0.json") << "{ half";

  const auto found = read_manifests(folder.path());

  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].state.starts_with("unreadable"));
}

}  // namespace
}  // namespace profshim::output
