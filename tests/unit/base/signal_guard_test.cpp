#include "profshim/base/threads/signal_guard.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "profshim/base/atomic_file.h"
#include "profshim/base/log.h"
#include "unit/in_child.h"
#include "unit/not_under_tsan.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

using test::in_child;

int write_into_closed_pipe() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  close(ends[0]);
  return write(ends[1], "x", 1) < 0 && errno == EPIPE ? 0 : 2;
}

TEST(SignalGuard, AClosedPipeDoesNotEndTheProcess) {
  EXPECT_EQ(in_child(write_into_closed_pipe), 128 + SIGPIPE);
  EXPECT_EQ(in_child([] {
              const SignalGuard guard;
              return write_into_closed_pipe();
            }),
            0);
}

TEST(SignalGuard, AFileSizeLimitDoesNotEndTheProcess) {
  NOT_UNDER_TSAN("it takes the signal itself and hands it out after the guard");
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";

  EXPECT_EQ(in_child([&path] {
              const rlimit none{0, 0};
              setrlimit(RLIMIT_FSIZE, &none);
              const SignalGuard guard;
              AtomicFile file;
              return file.open(path) && file.write("x", 1) ? 1 : file.error() == EFBIG ? 0 : 2;
            }),
            0);
}

TEST(SignalGuard, SignalsOfTheJobArriveAfterwards) {
  EXPECT_EQ(in_child([] {
              signal(SIGPIPE, [](int) { _exit(7); });
              sigset_t set;
              sigemptyset(&set);
              sigaddset(&set, SIGPIPE);
              pthread_sigmask(SIG_BLOCK, &set, nullptr);
              raise(SIGPIPE);
              { const SignalGuard guard; }
              pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
              return 1;
            }),
            7);
}

TEST(Log, AStderrWithoutAReaderDoesNotEndTheProcess) {
  EXPECT_EQ(in_child([] {
              int ends[2];
              if (pipe(ends) != 0) return 1;
              dup2(ends[1], STDERR_FILENO);
              log::note_stderr();
              close(ends[0]);
              log::line(LogLevel::kError, "nobody hears this");
              return 0;
            }),
            0);
}

}  // namespace
}  // namespace profshim
