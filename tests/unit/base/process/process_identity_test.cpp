#include "profshim/base/process_identity.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace profshim {
namespace {

constexpr std::int64_t kNow = 1'790'000'000'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

int pid_of_nobody() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return pid;
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t bracket = text.rfind(')');
  return bracket + 2 < text.size() ? text[bracket + 2] : '?';
}

TEST(ProcessIdentity, ReadsBackItsText) {
  const ProcessIdentity own = own_identity();
  ProcessIdentity read;

  ASSERT_TRUE(parse_identity(to_text(own) + "\n", read));

  EXPECT_EQ(read, own);
  EXPECT_NE(own.start_time, 0u);
  EXPECT_NE(own.pid_namespace, 0u);
  EXPECT_FALSE(own.boot_id.empty());
}

TEST(ProcessIdentity, ReadsTheTextOfEarlierVersions) {
  ProcessIdentity read;

  ASSERT_TRUE(parse_identity("node7 4711 99\n", read));

  EXPECT_EQ(read.host, "node7");
  EXPECT_EQ(read.pid, 4711);
  EXPECT_EQ(read.start_time, 99u);
}

TEST(ProcessIdentity, RefusesOtherTexts) {
  ProcessIdentity read;
  for (const char* text : {"", "node7", "node7 x 99", "a b c d e f", "node7 1 2 x boot", "node7 99999999999999 1"}) {
    EXPECT_FALSE(parse_identity(text, read)) << text;
  }
}

// A process in a debugger may give no sign for hours.
TEST(LifeOf, AVisibleProcessNeedsNoSignOfLife) {
  ProcessIdentity parent = own_identity();
  parent.pid = getppid();
  parent.start_time = process_start_time(getppid());

  EXPECT_EQ(life_of(parent, kNow - 3600 * kSecond, kNow), Life::kAlive);
}

// After pthread_exit() in the main thread, the kernel shows the process as a zombie.
TEST(LifeOf, AProcessLivesWhileAnyThreadRuns) {
  const pid_t pid = fork();
  if (pid == 0) {
    pthread_t thread;
    const auto sleep = [](void*) -> void* {
      ::sleep(60);
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, sleep, nullptr) != 0) _exit(1);
    // The syscall ends only this thread, like pthread_exit().
    syscall(SYS_exit, 0);
  }
  ProcessIdentity child = own_identity();
  child.pid = pid;
  child.start_time = process_start_time(pid);
  for (int i = 0; i < 1000 && state_of(pid) != 'Z'; ++i) usleep(1000);

  EXPECT_EQ(state_of(pid), 'Z');
  EXPECT_EQ(life_of(child, kNow - 3600 * kSecond, kNow), Life::kAlive);

  kill(pid, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(life_of(child, kNow - 3600 * kSecond, kNow), Life::kDead) << "all that is left is its status";
  waitpid(pid, nullptr, 0);
}

TEST(LifeOf, AnEndedProcessIsDeadDespiteARecentSign) {
  ProcessIdentity gone = own_identity();
  gone.pid = pid_of_nobody();
  gone.start_time = 4711;

  EXPECT_EQ(life_of(gone, kNow, kNow), Life::kDead);
}

TEST(LifeOf, AReusedPidIsAnotherProcess) {
  ProcessIdentity earlier = own_identity();
  earlier.start_time -= 1;

  EXPECT_EQ(life_of(earlier, kNow, kNow), Life::kDead);
}

std::vector<ProcessIdentity> out_of_sight() {
  std::vector<ProcessIdentity> all(3, own_identity());
  for (ProcessIdentity& process : all) process.pid = 1'000'000'000;
  all[0].pid_namespace += 1;
  all[1].boot_id = "another";
  all[2].start_time = 0;
  return all;
}

TEST(LifeOf, TheLastSignDecidesForInvisibleProcesses) {
  for (const ProcessIdentity& process : out_of_sight()) {
    EXPECT_FALSE(can_be_seen(process)) << to_text(process);
    EXPECT_EQ(life_of(process, kNow - 29 * kSecond, kNow), Life::kAlive) << to_text(process);
    EXPECT_EQ(life_of(process, kNow - 31 * kSecond, kNow), Life::kDead) << to_text(process);
  }
}

/// Returns 0 if life_of() finds a child alive that hidepid hides from us; 77 if this machine does not let us hide it.
int sees_a_hidden_child() {
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("proc", "/proc", "proc", 0, "hidepid=2") != 0 || setgid(65534) != 0 || setuid(65534) != 0)
    return 77;
  ProcessIdentity hidden = own_identity();
  hidden.pid = fork();  // not dumpable after setuid(), so hidepid hides the child
  if (hidden.pid == 0) {
    pause();
    _exit(0);
  }
  const bool is_hidden = process_start_time(hidden.pid) == 0;
  const bool alive = life_of(hidden, kNow, kNow) == Life::kAlive;
  kill(hidden.pid, SIGKILL);
  waitpid(hidden.pid, nullptr, 0);
  return !is_hidden ? 77 : alive ? 0 : 1;
}

TEST(LifeOf, AProcessMayBeHiddenFromItsOwnUser) {
  const pid_t pid = fork();
  if (pid == 0) _exit(sees_a_hidden_child());
  int status = 0;
  waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no process can be hidden here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Containers of one machine have different host names. Two machines may share a host name.
TEST(LifeOf, TheBootIdIdentifiesTheMachine) {
  ProcessIdentity other = own_identity();
  other.host = "elsewhere";
  EXPECT_TRUE(can_be_seen(other));

  other = own_identity();
  other.boot_id = "another";
  EXPECT_FALSE(can_be_seen(other));
}

TEST(LifeOf, IdentitiesOfEarlierVersionsAreComparedByHost) {
  ProcessIdentity old;
  old.host = own_identity().host;
  old.pid = getppid();
  old.start_time = process_start_time(getppid());

  EXPECT_EQ(life_of(old, 0, kNow), Life::kAlive);
}

}  // namespace
}  // namespace profshim
