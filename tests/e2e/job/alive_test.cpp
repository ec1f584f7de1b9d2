#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/own_shared_memory.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "profshim/base/clock.h"
#include "profshim/output/manifest.h"

namespace profshim::e2e {
namespace {

std::vector<std::string> spools() {
  std::vector<std::string> found;
  for (const std::string& file : files_below("/dev/shm")) {
    if (file.ends_with(".spool")) found.push_back("/dev/shm/" + file);
  }
  return found;
}

bool comes_true(const std::function<bool()>& condition) {
  const std::int64_t until_ns = monotonic_ns() + 30'000'000'000;
  while (!condition()) {
    if (monotonic_ns() > until_ns) return false;
    usleep(2000);
  }
  return true;
}

/// The first manifest is older than the window.
bool records(const std::string& folder) {
  for (const std::string& file : files_below(folder)) {
    if (file.starts_with("manifest-") && json_member(text_of_file(folder + "/" + file), "state") == "active")
      return true;
  }
  return false;
}

Job endless(const ScratchFolder& scratch, const std::string& folder, const std::string& spec) {
  Job job{
      .command = {built("tests/apps_ending/" + to_string(installed_mpis().back()) + "/ending"), "forever", "1", "500"}};
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write(folder + ".toml", spec));
  return job;
}

/// Kills the job once `condition` holds. Fails the test after 30 s.
bool run_until(Job job, const std::function<bool()>& condition) {
  bool held = false;
  job.while_running = [&](int pid) {
    held = comes_true(condition);
    kill(pid, SIGKILL);
  };
  const Outcome outcome = run(job);
  EXPECT_TRUE(held) << outcome.err;
  return held && outcome.ending() == "signal 9";
}

class Alive : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_memory_.mount_of(kSharedMemory)) GTEST_SKIP() << "mounting is not allowed here";
  }
  std::string folder(const std::string& name) const { return scratch_ / name; }
  bool kill_while_recording(const std::string& name) const {
    return run_until(endless(scratch_, name, record_all_spec(folder(name))), [&] { return records(folder(name)); });
  }

  const ScratchFolder scratch_;

 private:
  static constexpr std::uint64_t kSharedMemory = 2ull << 30;
  OwnSharedMemory shared_memory_;  // hides the spools of other processes
};

TEST_F(Alive, NextJobRemovesTheSpoolsOfKilledJobs) {
  for (const char* name : {"first", "second", "third"}) ASSERT_TRUE(kill_while_recording(name));
  ASSERT_EQ(spools().size(), 3u) << "nothing is tested";

  run_until(endless(scratch_, "next", record_all_spec(folder("next"))), [] { return spools().size() == 1; });

  for (const char* name : {"first", "second", "third"}) {
    const auto traces = read_folder(folder(name));
    ASSERT_EQ(traces.size(), 1u) << name;
    EXPECT_TRUE(traces[0].readable) << traces[0].error;
    EXPECT_EQ(traces[0].property("recovered"), "true");
    for (const std::string& file : files_below(folder(name))) {
      EXPECT_FALSE(file.ends_with(".spool")) << file << " has no process";
      EXPECT_FALSE(file.starts_with(".claim-")) << file << " belongs to a dead process";
    }
  }
  for (const std::string& left : spools()) unlink(left.c_str());
}

TEST_F(Alive, ASpoolWhoseFolderIsGoneIsRemoved) {
  ASSERT_TRUE(kill_while_recording("gone"));
  std::filesystem::remove_all(folder("gone"));
  const std::vector<std::string> left = spools();
  ASSERT_EQ(left.size(), 1u);

  run_until(endless(scratch_, "next", record_all_spec(folder("next"))),
            [&] { return access(left[0].c_str(), F_OK) != 0; });

  for (const std::string& spool : spools()) unlink(spool.c_str());
}

// A new file may be a spool without a header yet.
TEST_F(Alive, OldFileThatIsNoSpoolIsNamedAndANewOneIsNot) {
  const std::string name = "/dev/shm/profshim-" + std::to_string(getuid()) + "-rank1-1-";
  const std::string old_one = name + "0123456789abcdef.spool", new_one = name + "fedcba9876543210.spool";
  for (const std::string& path : {old_one, new_one}) {
    std::ofstream(path) << std::string(65536, '\0');
    chmod(path.c_str(), 0600);
  }
  const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, old_one.c_str(), long_ago, 0), 0);
  Job job = endless(scratch_, "run", record_all_spec(folder("run")));
  job.environment.emplace_back("PROFSHIM_SET", "profile.log=" + folder("log"));

  run_until(job, [&] { return text_of_file(folder("log")).find(old_one) != std::string::npos; });

  EXPECT_EQ(text_of_file(folder("log")).find(new_one), std::string::npos);
  EXPECT_EQ(access(old_one.c_str(), F_OK), 0);
  EXPECT_EQ(access(new_one.c_str(), F_OK), 0);
}

TEST_F(Alive, JobAfterItsLastWindowHoldsNoSpool) {
  const std::string spec =
      "version = 1\n[ranks]\nselect = \"all\"\n[steps]\nsource = \"collective\"\npattern = \"MPI_Allreduce\"\n"
      "every = 50\n[schedule]\nskip_first = 1\nwarmup = 0\nactive = 3\nrepeat = 1\n[limits]\ndisk_free = 0\n"
      "[output]\ngzip = false\nfolder = \"" +
      folder("run") + "\"\n";

  EXPECT_TRUE(run_until(endless(scratch_, "run", spec),
                        [&] { return !traces_below(folder("run")).empty() && spools().empty(); }));

  const auto traces = read_folder(folder("run"));
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_TRUE(traces[0].readable) << traces[0].error;
  EXPECT_EQ(traces[0].property("complete"), "true");
  const Outcome recover = profshim({"recover", folder("run")});
  EXPECT_EQ(recover.ending(), "exit 0") << recover.out;
}

std::string recover_meanwhile(Job job, const std::string& folder) {
  std::string said;
  job.while_running = [&](int pid) {
    EXPECT_TRUE(comes_true([&] { return records(folder); }));
    said = profshim({"recover", folder}).out;
    EXPECT_EQ(spools().size(), 1u) << "a live job's spool was taken: " << said;
    kill(pid, SIGKILL);
  };
  run(job);
  return said;
}

TEST_F(Alive, RecoverLeavesAJobOfAnotherPidNamespaceAlone) {
  Job job = endless(scratch_, "run", record_all_spec(folder("run")));
  job.command.insert(job.command.begin(), {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"});
  if (run(Job{.command = {"unshare", "--pid", "--fork", "--mount-proc", "true"}, .preload = false}).exit_status != 0) {
    GTEST_SKIP() << "no PID namespace can be made here";
  }

  const std::string said = recover_meanwhile(job, folder("run"));

  EXPECT_NE(said.find("a moment ago"), std::string::npos) << said;
  EXPECT_TRUE(read_folder(folder("run")).empty());
  for (const std::string& left : spools()) unlink(left.c_str());
}

// A job under another host name may run on this machine.
TEST_F(Alive, JobUnderAnotherHostNameIsExamined) {
  Job job = endless(scratch_, "run", record_all_spec(folder("run")));
  job.command.insert(job.command.begin(), {"unshare", "--uts", "sh", "-c", "hostname elsewhere && exec \"$@\"", "sh"});
  if (run(Job{.command = {"unshare", "--uts", "hostname", "elsewhere"}, .preload = false}).exit_status != 0) {
    GTEST_SKIP() << "no UTS namespace can be made here";
  }

  const std::string said = recover_meanwhile(job, folder("run"));

  EXPECT_NE(said.find("is still running"), std::string::npos) << said;
  const Outcome recover = profshim({"recover", folder("run")});
  EXPECT_EQ(recover.ending(), "exit 0") << recover.out;
  EXPECT_EQ(read_folder(folder("run")).size(), 1u);
}

TEST_F(Alive, AJobWithoutProcIsRecordedAndRespected) {
  const std::vector<std::string> without_proc = {
      "unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"};
  Job job = endless(scratch_, "run", record_all_spec(folder("run")));
  job.command[0] = built("tests/apps_ending/openmpi/ending");
  job.command.insert(job.command.begin(), without_proc.begin(), without_proc.end());
  Job alone = job;
  alone.preload = false;
  alone.command[without_proc.size() + 1] = "return";
  if (run(alone).exit_status != 0) GTEST_SKIP() << "/proc cannot be hidden here, or MPI does not start without it";

  const std::string said = recover_meanwhile(job, folder("run"));

  EXPECT_NE(said.find("a moment ago"), std::string::npos) << said;
  for (const std::string& left : spools()) unlink(left.c_str());
}

TEST_F(Alive, ARestartedRankTakesOverTheClaimOfItsDeadPredecessor) {
  Job job = endless(scratch_, "run", record_all_spec(folder("run")));
  job.environment.emplace_back("RANK", "0");  // this program is the launcher
  ASSERT_TRUE(run_until(job, [&] { return records(folder("run")); }));
  const std::string claim = folder("run") + "/.claim-rank0";
  std::ofstream(claim) << "node9 4711 99 4026531836 another-boot\n";
  std::filesystem::last_write_time(claim, std::filesystem::last_write_time(claim) - std::chrono::seconds(60));
  job.command[1] = "return";

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.err.find("process 4711 on node9, which recorded this rank, has ended"), std::string::npos)
      << outcome.err;
  for (const std::string& left : spools()) unlink(left.c_str());
}

}  // namespace
}  // namespace profshim::e2e
