#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/own_shared_memory.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kRoomy = 320 * kMiB;  // size of /dev/shm, of which spools take an eighth at most

std::uint64_t free_bytes() {
  struct statvfs s {};
  return statvfs("/dev/shm", &s) == 0 ? std::uint64_t{s.f_bavail} * s.f_frsize : 0;
}

bool fill() {
  const int fd = open("/dev/shm/other", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const std::string block(65536, 'x');
  while (write(fd, block.data(), block.size()) > 0) {
  }
  return close(fd) == 0 && free_bytes() < block.size();
}

bool has_spool() {
  for (const std::string& file : files_below("/dev/shm"))
    if (file.ends_with(".spool")) return true;
  return false;
}

// A spool takes 6 MiB before it has chunks.
bool spool_has_chunks() {
  for (const std::string& file : files_below("/dev/shm")) {
    struct stat s {};
    if (file.ends_with(".spool") && stat(("/dev/shm/" + file).c_str(), &s) == 0 &&
        std::uint64_t(s.st_blocks) * 512 >= 10 * kMiB)
      return true;
  }
  return false;
}

bool fill_behind_the_spool(int pid) {
  siginfo_t ended{};
  while (!spool_has_chunks()) {
    if (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == pid)
      return false;
    usleep(200);
  }
  return fill();
}

class SharedMemory : public testing::Test {
 protected:
  bool mount_shared_memory(std::uint64_t bytes) { return shared_memory_.mount_of(bytes); }

  Job job(Mpi mpi, const std::string& how, int calls) const {
    Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/ending"), how, std::to_string(calls)}};
    const std::string spec = record_all_spec(scratch_ / "traces") + "[limits]\ndisk_free = 0\n";
    job.environment.emplace_back("PROFSHIM_SPEC", scratch_.write("spec.toml", spec));
    return job;
  }

  std::size_t expect_all_or_said(int calls, const Outcome& outcome) const {
    const Outcome recover = profshim({"recover", scratch_ / "traces"});
    EXPECT_EQ(recover.ending(), "exit 0") << recover.out << recover.err;
    const auto traces = read_folder(scratch_ / "traces");
    EXPECT_EQ(traces.size(), 1u) << outcome.err;
    if (traces.size() != 1) return 0;
    EXPECT_TRUE(traces[0].readable) << traces[0].error;
    const std::size_t found = traces[0].calls("MPI_Allreduce").size();
    EXPECT_LE(found, static_cast<std::size_t>(calls));
    if (found < static_cast<std::size_t>(calls)) {
      EXPECT_EQ(traces[0].property("complete"), "false");
      EXPECT_TRUE(traces[0].property("limit") == "no space left for profshim's buffer file (limits.spool_folder)" ||
                  traces[0].property("dropped_events") != "0");
    }
    return found;
  }

  ScratchFolder scratch_;

 private:
  OwnSharedMemory shared_memory_;
};

class SharedMemoryOf : public SharedMemory, public testing::WithParamInterface<int> {};

TEST_P(SharedMemoryOf, ThatManyKiBChangesNothingForTheJob) {
  if (!mount_shared_memory(std::uint64_t{1024} * static_cast<std::uint64_t>(GetParam())))
    GTEST_SKIP() << "mounting is not allowed here";
  constexpr int kCalls = 20'000;
  Job ending = job(installed_mpis().back(), "return", kCalls);
  ending.preload = false;
  const Outcome without = run(ending);
  ending.preload = true;

  const Outcome with = run(ending);

  EXPECT_EQ(without.ending(), with.ending()) << with.err;
  EXPECT_EQ(printed_counts(without.out), printed_counts(with.out));
  if (with.ending() == "exit 0") expect_all_or_said(kCalls, with);
  EXPECT_FALSE(has_spool());
}
INSTANTIATE_TEST_SUITE_P(Real, SharedMemoryOf, testing::Values(64, 1024, 8192, 65536, 262144, 327680, 1048576));

TEST_F(SharedMemory, FilledByAnotherProcessIsReportedAndHarmless) {
  if (!mount_shared_memory(kRoomy)) GTEST_SKIP() << "mounting is not allowed here";
  constexpr int kCalls = 1'000'000;
  Job ending = job(installed_mpis().back(), "return", kCalls);
  bool filled = false;
  ending.while_running = [&](int pid) { filled = fill_behind_the_spool(pid); };

  const Outcome outcome = run(ending);

  EXPECT_TRUE(filled) << outcome.err;
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_LT(expect_all_or_said(kCalls, outcome), std::size_t{kCalls}) << "it was never full";
}

TEST_F(SharedMemory, EventsInAFullFileSystemAreRecovered) {
  if (!mount_shared_memory(kRoomy)) GTEST_SKIP() << "mounting is not allowed here";
  constexpr int kCalls = 1'000'000;
  Job killed = job(installed_mpis().back(), "9", kCalls);
  bool filled = false;
  killed.while_running = [&](int pid) { filled = fill_behind_the_spool(pid); };

  const Outcome outcome = run(killed);

  EXPECT_TRUE(filled) << outcome.err;
  EXPECT_EQ(outcome.ending(), "signal 9") << outcome.err;
  expect_all_or_said(kCalls, outcome);
}

TEST_F(SharedMemory, SpoolTakesAnEighthAtMost) {
  if (!mount_shared_memory(kRoomy)) GTEST_SKIP() << "mounting is not allowed here";
  constexpr int kCalls = 1'000'000;

  const Outcome outcome = run(job(installed_mpis().back(), "9", kCalls));

  EXPECT_EQ(outcome.ending(), "signal 9") << outcome.err;
  EXPECT_TRUE(has_spool()) << "nothing was tested";
  EXPECT_GE(free_bytes(), kRoomy / 8 * 7);
  EXPECT_LT(expect_all_or_said(kCalls, outcome), std::size_t{kCalls}) << "the spool never reached its limit";
}

TEST_F(SharedMemory, SmallFileSystemIsNotUsedAndTheTraceSaysTheCost) {
  if (!mount_shared_memory(64 * kMiB)) GTEST_SKIP() << "mounting is not allowed here";
  Job ending = job(installed_mpis().back(), "return", 1000);
  bool taken = false;
  ending.while_running = [&](int pid) {
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != pid)
      taken = taken || has_spool();
  };

  const Outcome outcome = run(ending);

  EXPECT_FALSE(taken);
  const auto traces = read_folder(scratch_ / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].calls("MPI_Allreduce").size(), 1000u);
  EXPECT_NE(traces[0].property("problems").find("a SIGKILL loses them"), std::string::npos);
  EXPECT_NE(outcome.err.find("a SIGKILL loses them: /dev/shm has no room"), std::string::npos) << outcome.err;
}

TEST_F(SharedMemory, SpoolIsInTheFolderOfTheSpecIfOneIsGiven) {
  if (!mount_shared_memory(8 * kMiB)) GTEST_SKIP() << "mounting is not allowed here";
  Job killed = job(installed_mpis().front(), "9", 1000);
  killed.environment.emplace_back("PROFSHIM_SET", "limits.spool_folder=" + scratch_.path());

  const Outcome outcome = run(killed);

  EXPECT_EQ(outcome.ending(), "signal 9") << outcome.err;
  EXPECT_EQ(expect_all_or_said(1000, outcome), 1000u);
}

}  // namespace
}  // namespace profshim::e2e
