#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/killed_jobs.h"
#include "e2e/support/machine/own_shared_memory.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

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
  remove_spools();
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
  remove_spools();
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
  remove_spools();
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
  remove_spools();
}

}  // namespace
}  // namespace profshim::e2e
