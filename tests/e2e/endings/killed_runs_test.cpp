// The trace of a killed run belongs to that run alone: no later job may find it in its folder or in its log.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/killed_jobs.h"
#include "e2e/support/machine/own_shared_memory.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/seen_trace.h"
#include "profshim/spool/format.h"

namespace profshim::e2e {
namespace {

namespace fs = std::filesystem;

class KilledRuns : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_memory_.mount_of(2ull << 30)) GTEST_SKIP() << "mounting is not allowed here";
  }
  void TearDown() override { remove_spools(); }

  std::string folder(const std::string& name) const { return scratch_ / name; }

  static Job with_log(Job job, const std::string& log) {
    job.environment.emplace_back("PROFSHIM_SET", "profile.log=" + log);
    return job;
  }
  Job job_in(const std::string& name, const std::string& more = "") const {
    return endless(scratch_, name, record_all_spec(folder(name)) + more);
  }
  static Job short_one(Job job) {
    job.command = {job.command[0], "return", "1"};
    return job;
  }
  bool kill_while_recording(const std::string& name) const {
    return run_until(job_in(name), [&] { return records(folder(name)); });
  }
  bool is_recovered(const std::string& name) const {
    return json_member(text_of_file(folder(name) + "/manifest-rank0.json"), "state") == "recovered";
  }
  /// Runs a job, until a window of its own is open and `condition` holds. Returns its log.
  std::string log_of_next(const std::string& name, const std::function<bool()>& condition) const {
    const std::string log = folder("log-" + name);
    run_until(with_log(job_in(name), log), [&] { return records(folder(name)) && condition(); });
    return text_of_file(log);
  }

  const ScratchFolder scratch_;

 private:
  OwnSharedMemory shared_memory_;
};

bool is_gone(const std::string& path) { return access(path.c_str(), F_OK) != 0; }

void expect_one_recovered(const std::string& folder) {
  const auto traces = read_folder(folder);
  ASSERT_EQ(traces.size(), 1u) << folder;
  EXPECT_TRUE(traces[0].readable) << traces[0].error;
  EXPECT_EQ(traces[0].property("recovered"), "true");
  for (const std::string& file : files_below(folder)) EXPECT_EQ(file.find("_part"), std::string::npos) << file;
}

/// The folder holds the trace of one job that ended well, and all views read it.
void expect_one_own_trace(const std::string& folder) {
  const auto traces = read_folder(folder);
  ASSERT_EQ(traces.size(), 1u) << folder;
  EXPECT_EQ(traces[0].property("recovered"), "false");
  EXPECT_EQ(traces[0].path.find("_part"), std::string::npos) << traces[0].path;
  const std::string page = folder + ".html";
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"summary", folder}, {"report", folder, "-o", page}, {"compare", folder, folder}}) {
    const Outcome outcome = profshim(command);
    EXPECT_EQ(outcome.ending(), "exit 0") << command[0] << ": " << outcome.err;
  }
}

TEST_F(KilledRuns, ARunWhoseFolderIsMadeAgainStaysOutOfIt) {
  ASSERT_TRUE(kill_while_recording("run"));
  const std::string spool = spools().at(0);
  fs::remove_all(folder("run"));

  const Outcome next = run(short_one(job_in("run")));

  EXPECT_EQ(next.ending(), "exit 0");
  EXPECT_EQ(next.err.find("recover"), std::string::npos) << next.err;
  expect_one_own_trace(folder("run"));
  EXPECT_FALSE(is_gone(spool)) << "the user may still want it";
}

// The moment of a kill decides whether a file was being written: the test leaves such files itself.
TEST_F(KilledRuns, FilesThatItHadBegunToWriteAreRemoved) {
  ASSERT_TRUE(kill_while_recording("run"));
  const std::string pid = json_member(text_of_file(folder("run") + "/manifest-rank0.json"), "pid");
  const std::string trace = folder("run") + "/step0/.rank0.0.pt.trace.json.",
                    page = folder("run") + "/.manifest-rank0.json.";
  fs::create_directories(folder("run") + "/step0");
  const std::string of_other = trace + pid + "0-0123456789abcdef.tmp";
  for (const std::string& path :
       {trace + pid + "-0123456789abcdef.tmp", page + pid + "-0123456789abcdef.tmp", of_other}) {
    std::ofstream(path) << "half";
  }

  const Outcome recovered = profshim({"recover", folder("run")});

  EXPECT_EQ(recovered.ending(), "exit 0") << recovered.out << recovered.err;
  expect_one_recovered(folder("run"));
  EXPECT_FALSE(is_gone(of_other));
  fs::remove(of_other);
  for (const std::string& file : files_below(folder("run"))) EXPECT_FALSE(file.ends_with(".tmp")) << file;
}

TEST_F(KilledRuns, ALongJobDoesNotTakeItIntoItsFolderEither) {
  ASSERT_TRUE(kill_while_recording("run"));
  fs::remove_all(folder("run"));

  // "last" shows that the job has looked at all spools: its name comes after that of the killed run.
  ASSERT_TRUE(kill_while_recording("last"));
  const std::string log = log_of_next("run", [&] { return is_recovered("last"); });

  EXPECT_EQ(log.find("recover"), std::string::npos) << log;
  EXPECT_TRUE(traces_below(folder("run")).empty()) << "the killed run's events came into the folder of another run";
}

TEST_F(KilledRuns, ARunThatOverwritesTheFolderIsNotMixedWithIt) {
  ASSERT_TRUE(kill_while_recording("run"));
  Job next = short_one(job_in("run"));
  next.environment.emplace_back("PROFSHIM_SET", "output.overwrite=true");

  const Outcome outcome = run(next);

  EXPECT_EQ(outcome.err.find("recover"), std::string::npos) << outcome.err;
  expect_one_own_trace(folder("run"));
  const Outcome recover = profshim({"recover", folder("run")});
  EXPECT_EQ(recover.ending(), "exit 1");
  EXPECT_NE(recover.out.find("earlier run of this folder"), std::string::npos) << recover.out;
  expect_one_own_trace(folder("run"));
}

TEST_F(KilledRuns, FewerRanksInAnOverwrittenFolderAreListedAlone) {
  Job four = mpirun(installed_mpis().back(), 2, job_in("run").command);
  four.environment = job_in("run").environment;
  ASSERT_TRUE(run_until(four, [&] { return files_below(folder("run")).size() > 6 && records(folder("run")); }));
  ASSERT_TRUE(comes_true([&] { return spools().size() == 2; }));
  Job next = short_one(job_in("run"));
  next.environment.emplace_back("PROFSHIM_SET", "output.overwrite=true");
  ASSERT_TRUE(comes_true([&] {
    run(next);
    return !traces_below(folder("run")).empty();  // the ranks of the killed launcher have ended
  }));

  const Outcome listed = profshim({"ls", folder("run")});

  EXPECT_NE(listed.out.find("1 rank, 1 file"), std::string::npos) << listed.out;
}

TEST_F(KilledRuns, OtherRunsAreRecoveredIntoTheirOwnFoldersWithoutALine) {
  ASSERT_TRUE(kill_while_recording("killed"));

  const std::string log = log_of_next("next", [&] { return spools().size() == 1; });

  expect_one_recovered(folder("killed"));
  EXPECT_EQ(log.find("recover"), std::string::npos) << log;
  const std::string manifest = text_of_file(folder("killed") + "/manifest-rank0.json");
  EXPECT_EQ(json_member(manifest, "state"), "recovered");
}

TEST_F(KilledRuns, TwoJobsAtOnceRecoverEachRunOnce) {
  for (const char* name : {"first", "second", "third"}) ASSERT_TRUE(kill_while_recording(name));
  Job other = with_log(job_in("other"), folder("log-other"));
  bool both_end = false;
  other.while_running = [&](int pid) {
    log_of_next("next", [] { return spools().size() == 2; });
    both_end = true;
    kill(pid, SIGKILL);
  };

  run(other);

  EXPECT_TRUE(both_end);
  for (const char* name : {"first", "second", "third"}) expect_one_recovered(folder(name));
}

TEST_F(KilledRuns, ADeletedFolderDoesNotComeBackAndLsNamesTheRun) {
  ASSERT_TRUE(kill_while_recording("killed"));
  const std::string spool = spools().at(0);
  fs::remove_all(folder("killed"));
  ASSERT_TRUE(kill_while_recording("last"));

  const std::string log = log_of_next("next", [&] { return is_recovered("last"); });

  EXPECT_TRUE(is_gone(folder("killed")));
  EXPECT_EQ(log.find("recover"), std::string::npos) << log;
  const Outcome listed = profshim({"ls", folder("last")});
  EXPECT_EQ(listed.ending(), "exit 0") << "the run of the folder is whole: " << listed.out;
  EXPECT_NE(listed.out.find("1 unrecovered run in /dev/shm: profshim recover --into NEW_FOLDER " + spool),
            std::string::npos)
      << listed.out;
  EXPECT_NE(listed.out.find(folder("killed") + " is gone"), std::string::npos) << listed.out;

  const Outcome recover = profshim({"recover", "--into", folder("kept"), spool});

  EXPECT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;
  expect_one_recovered(folder("kept"));
  EXPECT_EQ(profshim({"ls", folder("kept")}).ending(), "exit 0");
  EXPECT_TRUE(is_gone(spool));
  EXPECT_TRUE(is_gone(folder("killed")));
}

TEST_F(KilledRuns, AMovedFolderStillGetsItsTraces) {
  ASSERT_TRUE(kill_while_recording("run"));
  fs::rename(folder("run"), folder("moved"));
  run(short_one(job_in("run")));

  const Outcome recover = profshim({"recover", folder("moved")});

  EXPECT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;
  expect_one_recovered(folder("moved"));
  expect_one_own_trace(folder("run"));
}

TEST_F(KilledRuns, RecoverIntoAFolderOfAnotherRunIsRefused) {
  ASSERT_TRUE(kill_while_recording("killed"));
  const std::string spool = spools().at(0);
  fs::remove_all(folder("killed"));
  run(short_one(job_in("other")));

  const Outcome recover = profshim({"recover", "--into", folder("other"), spool});

  EXPECT_EQ(recover.ending(), "exit 1");
  EXPECT_NE(recover.out.find("holds another run; name a new folder"), std::string::npos) << recover.out;
  EXPECT_FALSE(is_gone(spool));
  expect_one_own_trace(folder("other"));
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path) << bytes;
  chmod(path.c_str(), 0600);
  const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
}

std::string head_of_version(std::uint32_t version) {
  std::string bytes(1 << 20, '\0');
  auto& header = *reinterpret_cast<spool::SpoolHeader*>(bytes.data());
  std::copy(std::begin(spool::kMagic), std::end(spool::kMagic), header.magic);
  header.version = version;
  header.file_bytes = bytes.size();
  return bytes;
}

// Files of other versions, users and containers may lie in memory for weeks.
TEST_F(KilledRuns, ForeignFilesInMemoryAreNoMatterOfAJob) {
  const std::string ours = "/dev/shm/profshim-" + std::to_string(getuid()) + "-rank0-1-";
  write_file(ours + "empty.spool", "");
  write_file(ours + "zeros.spool", std::string(65536, '\0'));
  write_file(ours + "noise.spool", std::string(70000, '\x5a'));
  write_file(ours + "older.spool", head_of_version(spool::kFormatVersion - 1));
  write_file(ours + "newer.spool", head_of_version(spool::kFormatVersion + 1));
  write_file(ours + "damaged.spool", head_of_version(spool::kFormatVersion));
  ASSERT_EQ(mkfifo((ours + "pipe.spool").c_str(), 0666), 0);
  ASSERT_EQ(symlink("/dev/zero", (ours + "link.spool").c_str()), 0);
  write_file(ours + "another.spool", head_of_version(spool::kFormatVersion));
  if (geteuid() == 0) {
    ASSERT_EQ(chown((ours + "another.spool").c_str(), 65534, 65534), 0);
  }
  const std::size_t before = spools().size();
  ASSERT_TRUE(kill_while_recording("last"));

  const std::string log = log_of_next("next", [&] { return is_recovered("last"); });

  EXPECT_EQ(log, "");
  EXPECT_GE(spools().size(), before);
}

// As torchrun does, a supervisor starts the rank again in the same run.
TEST_F(KilledRuns, ARankThatIsStartedAgainSaysThatItRecoversItsRun) {
  Job job = with_log(job_in("run"), folder("log"));
  job.environment.emplace_back("RANK", "0");
  job.environment.emplace_back("WORLD_SIZE", "1");
  ASSERT_TRUE(run_until(job, [&] { return records(folder("run")); }));

  ASSERT_TRUE(run_until(job, [&] { return text_of_file(folder("log")).find("killed rank") != std::string::npos; }));

  EXPECT_NE(text_of_file(folder("log")).find("recovered 1 trace of killed ranks of this run"), std::string::npos);
  expect_one_recovered(folder("run"));
}

TEST_F(KilledRuns, ProfshimRunRecoversItsOwnRanksOnly) {
  ASSERT_TRUE(kill_while_recording("run"));
  const std::string before = spools().at(0);
  Job job = job_in("run");
  const std::string text = job.command[0] + " forever 1 500 & sleep 2; kill -KILL $!; wait $!; true";
  Job command{.command = {built("profshim"), "run", "-s", scratch_ / "run.toml", "--set", "output.overwrite=true", "--",
                          "sh", "-c", text},
              .preload = false};

  const Outcome outcome = run(command);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  expect_one_recovered(folder("run"));
  EXPECT_EQ(outcome.err.find("earlier run"), std::string::npos) << outcome.err;
  EXPECT_EQ(spools(), std::vector<std::string>{before});
}

// A container may share /dev/shm, but not the folders.
TEST_F(KilledRuns, AJobThatDoesNotSeeTheFolderLeavesTheSpool) {
  ASSERT_TRUE(kill_while_recording("hidden/killed"));
  const std::string spool = spools().at(0);
  ASSERT_TRUE(kill_while_recording("last"));
  const std::string hidden = folder("hidden");
  Job job = with_log(job_in("next"), folder("log"));
  job.before_exec = [&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("tmpfs", hidden.c_str(), "tmpfs", 0, "") != 0) _exit(99);
  };

  run_until(job, [&] { return is_recovered("last"); });

  EXPECT_FALSE(is_gone(spool));
  EXPECT_EQ(text_of_file(folder("log")), "");
  EXPECT_EQ(profshim({"recover", folder("hidden/killed")}).ending(), "exit 0");
  expect_one_recovered(folder("hidden/killed"));
}

TEST_F(KilledRuns, AnotherUsersJobTouchesNothing) {
  if (const std::string why_not = why_no_job_of(65534); !why_not.empty()) GTEST_SKIP() << why_not;
  ASSERT_TRUE(kill_while_recording("killed"));
  const std::string spool = spools().at(0);
  ASSERT_EQ(chmod(scratch_.path().c_str(), 0777), 0);
  Job job = with_log(job_in("next"), folder("log"));
  job.before_exec = [] {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(99);
  };

  run_until(job, [&] { return records(folder("next")); });

  EXPECT_FALSE(is_gone(spool));
  EXPECT_TRUE(traces_below(folder("killed")).empty());
  EXPECT_EQ(text_of_file(folder("log")).find("recover"), std::string::npos);
  EXPECT_EQ(profshim({"recover", folder("killed")}).ending(), "exit 0");
}

}  // namespace
}  // namespace profshim::e2e
