#include "profshim/run/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "profshim/run/manifest.h"
#include "run_folder_fixture.h"
#include "unit/temporary_folder.h"

namespace profshim::run {
namespace {

using test::end_creator;
using test::kNow;
using test::own_host;

RunFolder open_rank(int rank, const std::string& pattern, const JobIdentity& job, const Spec& spec = {},
                    std::int64_t now_ns = kNow) {
  NameValues names;
  names.rank.rank = rank;
  return open_run(spec, pattern, names, job, now_ns);
}

RunFolder open_run(const Spec& spec, const std::string& folder, const JobIdentity& job) {
  return open_rank(0, folder, job, spec);
}

TEST(OpenRun, AllRanksOfAJobShareOneBase) {
  test::TemporaryFolder folder;
  const std::int64_t quarter = 7889238'000'000'000;

  const RunFolder first = open_rank(0, folder.path() + "/run", {.key = "job1", .readable = "j"});
  const RunFolder second = open_rank(1, folder.path() + "/run", {.key = "job1", .readable = "j"}, {}, kNow + quarter);

  EXPECT_EQ(first.problem, "");
  EXPECT_EQ(second.problem, "");
  EXPECT_EQ(first.base_time_ns, second.base_time_ns);
  EXPECT_EQ(first.base_time_ns % quarter, 0);
}

void age(const std::string& path) {
  const auto now = std::filesystem::last_write_time(path);
  std::filesystem::last_write_time(path, now - std::chrono::seconds(60));
}

/// A rank of two that a shell has started. Launches at one port meet.
JobIdentity started_apart(const std::string& process, bool has_common_name = false) {
  return {.key = process,
          .readable = process,
          .program = "train",
          .rendezvous = "node1:29500/2",
          .has_common_name = has_common_name};
}

TEST(OpenRun, RanksThatWereStartedApartAgreeOnOneFolder) {
  const test::TemporaryFolder folder;
  const std::string pattern = folder.path() + "/{run_name}";

  const RunFolder first = open_rank(0, pattern, started_apart("a"));
  const RunFolder second = open_rank(1, pattern, started_apart("b"), {}, kNow + 1'000'000'000'000'000'000);

  EXPECT_EQ(first.path, folder.path() + "/train-a");
  EXPECT_EQ(second.path, first.path);
  EXPECT_EQ(second.run_name, "train-a");
  EXPECT_EQ(second.base_time_ns, first.base_time_ns);
  EXPECT_EQ(first.problem + second.problem, "");
}

/// A process that has opened the run, and claimed its rank, until it ends.
class Recording {
 public:
  Recording(int rank, const std::string& pattern, const JobIdentity& job) {
    int path[2];
    EXPECT_EQ(pipe(path), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const std::string opened = open_rank(rank, pattern, job).path;
      std::string owner;
      if (!claim_rank(opened, rank, owner)) _exit(1);
      (void)!write(path[1], opened.c_str(), opened.size());
      close(path[1]);
      pause();
    }
    close(path[1]);
    char text[512];
    path_.assign(text, static_cast<std::size_t>(std::max<ssize_t>(0, read(path[0], text, sizeof text))));
    close(path[0]);
  }
  ~Recording() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  const std::string& path() const { return path_; }

 private:
  pid_t pid_ = 0;
  std::string path_;
};

TEST(OpenRun, ALaterLaunchThatMeetsAtTheSameAddressHasItsOwnFolder) {
  const test::TemporaryFolder folder;
  const std::string pattern = folder.path() + "/{run_name}";
  {
    const Recording rank0(0, pattern, started_apart("a"));
    const Recording rank1(1, pattern, started_apart("b"));
    ASSERT_EQ(rank0.path(), folder.path() + "/train-a");
    ASSERT_EQ(rank1.path(), rank0.path());
  }
  const Recording rank1(1, pattern, started_apart("c"));
  const Recording rank0(0, pattern, started_apart("d"));
  EXPECT_EQ(rank1.path(), folder.path() + "/train-c");
  EXPECT_EQ(rank0.path(), rank1.path());

  const Recording third(0, pattern, started_apart("e"));
  EXPECT_EQ(third.path(), folder.path() + "/train-e") << "rank 0 is recorded, although the launch still runs";
}

TEST(OpenRun, RanksInAFolderWithoutTheNameHaveOneNameToo) {
  const test::TemporaryFolder folder;
  Spec spec;
  spec.output.overwrite = Overwrite::kNew;
  const RunFolder first = open_rank(0, folder.path() + "/run", started_apart("a"), spec);

  EXPECT_EQ(open_rank(1, folder.path() + "/run", started_apart("b"), spec).run_name, first.run_name);
}

TEST(OpenRun, ALaunchThatHasEndedIsNotJoined) {
  const test::TemporaryFolder folder;
  const std::string pattern = folder.path() + "/{run_name}";
  const RunFolder first = open_rank(0, pattern, started_apart("a"));
  ASSERT_NE(first.rendezvous_file, "");
  end_creator(first.path + "/.profshim-run");
  end_creator(first.rendezvous_file);

  EXPECT_EQ(open_rank(1, pattern, started_apart("b")).path, folder.path() + "/train-b");
}

TEST(OpenRun, ARestartedRankComesBack) {
  const test::TemporaryFolder folder;
  const std::string pattern = folder.path() + "/run";
  const RunFolder first = open_rank(0, pattern, started_apart("torchrun a"));
  open_rank(1, pattern, started_apart("torchrun b"));
  std::ofstream(first.path + "/manifest-rank1.json") << "{}";

  EXPECT_EQ(open_rank(1, pattern, started_apart("torchrun b")).problem, "");
  EXPECT_NE(open_rank(1, pattern, started_apart("torchrun c")).problem, "");
}

TEST(LeaveMeeting, TheLastRankRemovesTheFile) {
  const test::TemporaryFolder folder;
  const RunFolder first = open_rank(0, folder.path() + "/{run_name}", started_apart("a"));
  const std::string claim = first.path + "/.claim-rank1";
  std::ofstream(claim) << own_host() << ' ' << getppid() << ' ' << process_start_time(getppid()) << '\n';

  leave_rendezvous(first.rendezvous_file, first.run_name, first.path);
  EXPECT_TRUE(std::filesystem::exists(first.rendezvous_file));
  leave_rendezvous(first.rendezvous_file, "train-z", first.path);
  EXPECT_TRUE(std::filesystem::exists(first.rendezvous_file));
  std::filesystem::remove(claim);
  leave_rendezvous(first.rendezvous_file, first.run_name, first.path);
  EXPECT_FALSE(std::filesystem::exists(first.rendezvous_file));
}

TEST(OpenRun, LaunchesWithOneNameGetNumbers) {
  const test::TemporaryFolder folder;
  const std::string pattern = folder.path() + "/{run_name}/rank{rank}";
  const auto in_step = [&](const char* key) {
    return open_rank(0, pattern, {.key = key, .readable = "slurm-4711.0", .program = "train"});
  };

  EXPECT_EQ(in_step("a").path, folder.path() + "/train-slurm-4711.0/rank0");
  EXPECT_EQ(in_step("b").path, folder.path() + "/train-slurm-4711.0-2/rank0");
  EXPECT_EQ(in_step("b").run_name, "train-slurm-4711.0-2");
  Spec named;
  named.profile.run_name = "train-slurm-4711.0";
  EXPECT_NE(open_rank(0, pattern, {.key = "c"}, named).problem, "") << "the user's name must stay as it is";
}

TEST(OpenRun, AnotherRunIsRefusedByDefault) {
  test::TemporaryFolder folder;
  ASSERT_EQ(open_run(Spec{}, folder.path() + "/run", {.key = "job1", .readable = "j"}).problem, "");

  const RunFolder second = open_run(Spec{}, folder.path() + "/run", {.key = "job2", .readable = "j"});

  EXPECT_NE(second.problem.find("output.overwrite"), std::string::npos) << second.problem;
}

TEST(OpenRun, OverwriteNewUsesOneNumberedSiblingForAllRanks) {
  test::TemporaryFolder folder;
  Spec spec;
  spec.output.overwrite = Overwrite::kNew;
  open_run(spec, folder.path() + "/run", {.key = "job1", .readable = "j"});

  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job2", .readable = "j"}).path, folder.path() + "/run-2");
  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job2", .readable = "j"}).path, folder.path() + "/run-2");
  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job3", .readable = "j"}).path, folder.path() + "/run-3");
}

TEST(OpenRun, OverwriteTrueReusesTheFolder) {
  test::TemporaryFolder folder;
  Spec spec;
  spec.output.overwrite = Overwrite::kYes;
  open_run(spec, folder.path() + "/run", {.key = "job1", .readable = "j"});

  EXPECT_EQ(open_run(spec, folder.path() + "/run", {.key = "job2", .readable = "j"}).problem, "");
  EXPECT_EQ(open_run(Spec{}, folder.path() + "/run", {.key = "job2", .readable = "j"}).problem, "");
}

TEST(OpenRun, OverwriteRefusesTheFolderOfARunningJob) {
  const test::TemporaryFolder folder;
  Spec spec;
  spec.output.overwrite = Overwrite::kYes;
  const std::string run = open_run(spec, folder.path() + "/run", {.key = "job1", .readable = "j"}).path;
  const std::string host = own_host();
  const std::string parent = " " + std::to_string(getppid()) + " ";
  const auto claim = [&](const std::string& of) { std::ofstream(run + "/.claim-rank0") << of << '\n'; };

  claim(host + parent + std::to_string(process_start_time(getppid())));
  EXPECT_NE(open_run(spec, run, {.key = "job2", .readable = "j"}).problem.find("output.overwrite to \"new\""),
            std::string::npos);
  claim("elsewhere" + parent + "1");
  EXPECT_NE(open_run(spec, run, {.key = "job3", .readable = "j"}).problem, "") << "it gave a sign a moment ago";
  age(run + "/.claim-rank0");
  EXPECT_EQ(open_run(spec, run, {.key = "job3", .readable = "j"}).problem, "") << "nobody could ever overwrite it";
  claim(host + parent + "1");  // reused pids have other start times
  EXPECT_EQ(open_run(spec, run, {.key = "job4", .readable = "j"}).problem, "");
}

TEST(OpenRun, ReportsAFolderThatCannotBeCreated) {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";

  const RunFolder run = open_run(Spec{}, folder.path() + "/file/run", {.key = "job1", .readable = "j"});

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
  ASSERT_EQ(open_run(Spec{}, folder.path(), {.key = "job1", .readable = "j"}).problem, "");
  ASSERT_EQ(chown((folder.path() + "/.profshim-run").c_str(), 65534, 65534), 0);

  EXPECT_NE(open_run(Spec{}, folder.path(), {.key = "job1", .readable = "j"}).problem, "");
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
}  // namespace profshim::run
