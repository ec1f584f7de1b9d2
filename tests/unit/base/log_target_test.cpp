#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "profshim/base/files.h"
#include "profshim/base/log.h"
#include "unit/in_child.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

using test::in_child;

bool is_a_log_after(const std::function<void()>& replace) {
  return in_child([&] {
           replace();
           return log::replaced_stderr_is_a_log() ? 1 : 0;
         }) == 1;
}

void put_over_stderr(const std::string& path, int flags = O_WRONLY | O_CREAT | O_APPEND) {
  const int fd = open(path.c_str(), flags, 0644);
  dup2(fd, STDERR_FILENO);
  if (fd != STDERR_FILENO) close(fd);
}

TEST(LogTarget, RecognizesNamesOfLogs) {
  for (const char* log : {"/tmp/ray/worker-abc.err", "/a/worker-abc.err.3", "/var/log/daemon.log", "/x/stderr",
                          "/x/my_stderr.txt", "stderr.0"}) {
    EXPECT_TRUE(log::is_name_of_a_log(log, false)) << log;
  }
  for (const char* data : {"/data/results.bin", "/data/table.csv", "/data/run.out", "/x.log/data", "/x.err/data.3", ""})
    EXPECT_FALSE(log::is_name_of_a_log(data, false)) << data;
  EXPECT_TRUE(log::is_name_of_a_log("/home/me/nohup.out", true));
}

TEST(LogTarget, AcceptsFilesByName) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(is_a_log_after([&] { put_over_stderr(folder.path() + "/worker-abc.err"); }));
  EXPECT_FALSE(is_a_log_after([&] { put_over_stderr(folder.path() + "/results.dat"); }));
  EXPECT_FALSE(is_a_log_after([&] { put_over_stderr(folder.path() + "/worker-abc.err", O_RDONLY); }));
  EXPECT_FALSE(is_a_log_after([&] {
    put_over_stderr(folder.path() + "/gone.err");
    unlink((folder.path() + "/gone.err").c_str());
  }));
  EXPECT_FALSE(is_a_log_after([&] { put_over_stderr("/dev/null", O_WRONLY); }));
  EXPECT_FALSE(is_a_log_after([&] { close(STDERR_FILENO); }));
}

TEST(LogTarget, AcceptsAPipeThatWasPutThereOnPurpose) {
  EXPECT_TRUE(is_a_log_after([] {
    int ends[2];
    if (pipe(ends) == 0) dup2(ends[1], STDERR_FILENO);
  }));
}

TEST(LogTarget, RefusesADataPipeWithAReusedNumber) {
  EXPECT_FALSE(is_a_log_after([] {
    int ends[2];
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    [[maybe_unused]] const int made = pipe(ends);  // takes descriptors 0 and 2
  }));
  EXPECT_FALSE(is_a_log_after([] {
    int ends[2];
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    if (pipe(ends) == 0) close(ends[0]);  // as popen() does
  }));
}

TEST(LogTarget, DoesNotBlockOnAFullPipe) {
  EXPECT_FALSE(is_a_log_after([] {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) return;
    dup2(ends[1], STDERR_FILENO);
    const char block[4096] = {};
    while (write(STDERR_FILENO, block, sizeof block) > 0) continue;
    fcntl(STDERR_FILENO, F_SETFL, 0);
  }));
}

TEST(LogTarget, KeepsLinesUntilTheRunFolderExists) {
  const test::TemporaryFolder folder;
  const int status = in_child([&] {
    log::note_stderr();
    put_over_stderr(folder.path() + "/results.dat");
    log::line(LogLevel::kError, "the first");
    log::set_run_folder(folder.path(), 3);
    log::line(LogLevel::kError, "the second");
    return 0;
  });
  std::string text;
  int error = 0;

  ASSERT_EQ(status, 0);
  ASSERT_TRUE(read_file(folder.path() + "/profshim-rank3.log", text, error));
  EXPECT_EQ(text, "profshim: the first\nprofshim: the second\n");
  ASSERT_TRUE(read_file(folder.path() + "/results.dat", text, error));
  EXPECT_EQ(text, "");
}

TEST(LogTarget, LinksAndPipesInTheRunFolderAreRefused) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(symlink((folder.path() + "/victim").c_str(), (folder.path() + "/profshim-rank0.log").c_str()), 0);
  ASSERT_EQ(mkfifo((folder.path() + "/profshim-rank1.log").c_str(), 0644), 0);
  const int status = in_child([&] {
    log::note_stderr();
    put_over_stderr("/dev/null", O_WRONLY);
    for (const int rank : {0, 1}) {
      log::set_run_folder(folder.path(), rank);
      log::line(LogLevel::kError, "a line");
    }
    return 0;
  });

  EXPECT_EQ(status, 0);
  EXPECT_NE(access((folder.path() + "/victim").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace profshim
