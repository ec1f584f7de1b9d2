#include "profshim/base/process/process_words.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace profshim {
namespace {

/// Returns the exit status of the child.
int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProcessWords, AreZeroInEachNewProcess) {
  if (!clear_words_in_children()) GTEST_SKIP() << "Linux before 4.14";
  process_words.mode = 5;
  const auto leave = [] { _exit(static_cast<int>(process_words.mode.load())); };

  const pid_t of_fork = fork();
  if (of_fork == 0) leave();
  const auto of_clone = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (of_clone == 0) leave();

  EXPECT_EQ(status_of(of_fork), 0);
  EXPECT_EQ(status_of(of_clone), 0);
  EXPECT_EQ(process_words.mode, 5u);
  process_words.mode = 0;
}

TEST(ProcessWords, FillTheirPagesAlone) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&process_words) % page, 0u);
  EXPECT_EQ(sizeof process_words % page, 0u);
}

}  // namespace
}  // namespace profshim
