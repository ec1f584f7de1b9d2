#include "profshim/base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "profshim/base/atomic_file.h"
#include "profshim/base/threads/signal_guard.h"
#include "unit/in_child.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

std::string content(const std::string& path) {
  std::string text;
  int error = 0;
  return read_file(path, text, error) ? text : "(none)";
}

constinit std::atomic<bool> is_over{false};

void* open_again_and_again(void*) {
  while (!is_over) close(open_high("/dev/null", O_RDONLY));
  return nullptr;
}

// Returns how often close(0) and open() did not give 0, while a thread of ours opens files.
int lost_numbers(int times) {
  pthread_t thread;
  if (start_thread(thread, open_again_and_again, nullptr) != 0) return -1;
  int lost = 0;
  for (int i = 0; i < times; ++i) {
    usleep(100);
    close(STDIN_FILENO);
    for (int work = 0; work < 100; ++work) getppid();
    const int fd = open("/dev/zero", O_RDONLY);
    if (fd == STDIN_FILENO) continue;
    ++lost;
    dup2(fd, STDIN_FILENO);
    close(fd);
  }
  is_over = true;
  pthread_join(thread, nullptr);
  return lost;
}

// A thread of ours opens a file at any moment, but not while a standard descriptor is closed. What remains is the time
// between its look and its call.
TEST(OpenHigh, LeavesTheJobTheNumberThatItHasJustClosed) {
  constexpr int kTimes = 1000, kMost = kTimes / 50;
  EXPECT_EQ(test::in_child([] { return lost_numbers(kTimes) <= kMost ? 0 : 1; }), 0);
}

TEST(AtomicFile, DoesNotExistUntilPublished) {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.json";
  AtomicFile file;

  ASSERT_TRUE(file.open(path));
  ASSERT_TRUE(file.write("whole", 5));
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  ASSERT_TRUE(file.publish(AtomicFile::Existing::kReplace));

  EXPECT_EQ(content(path), "whole");
}

TEST(AtomicFile, LeavesNoFileIfNotPublished) {
  test::TemporaryFolder folder;
  {
    AtomicFile file;
    ASSERT_TRUE(file.open(folder.path() + "/a.json"));
    ASSERT_TRUE(file.write("half", 4));
  }

  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AtomicFile, RemovesWhatAKilledProcessLeft) {
  test::TemporaryFolder folder;
  const Descriptor opened = open_folder(folder.path());
  AtomicFile other;
  ASSERT_TRUE(other.open("", "step1/b.json", opened.get()));
  const pid_t pid = fork();
  if (pid == 0) {
    AtomicFile file;
    _exit(file.open("", "step1/a.json", opened.get()) && file.write("half", 4) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_EQ(status, 0);
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path() + "/step1"), {}); };
  ASSERT_EQ(files(), 2);

  AtomicFile::remove_unpublished(opened.get(), "step1/a.json", getpid());
  AtomicFile::remove_unpublished(opened.get(), "step1/b.json", pid);
  EXPECT_EQ(files(), 2);
  AtomicFile::remove_unpublished(opened.get(), "step1/a.json", pid);
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(other.publish(AtomicFile::Existing::kReplace));
}

TEST(AtomicFile, KeepsAnExistingFileWhenAskedTo) {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.json";
  AtomicFile first;
  AtomicFile second;
  ASSERT_TRUE(first.open(path) && first.write("first", 5) && first.publish(AtomicFile::Existing::kKeepExisting));

  ASSERT_TRUE(second.open(path) && second.write("second", 6));
  EXPECT_FALSE(second.publish(AtomicFile::Existing::kKeepExisting));

  EXPECT_EQ(second.error(), EEXIST);
  EXPECT_EQ(content(path), "first");
}

TEST(MakeFolders, ReportsAFileInPlaceOfAFolder) {
  test::TemporaryFolder folder;
  AtomicFile file;
  ASSERT_TRUE(file.open(folder.path() + "/file") && file.publish(AtomicFile::Existing::kReplace));

  EXPECT_EQ(make_folders(folder.path() + "/file/below"), ENOTDIR);
  EXPECT_EQ(make_folders(folder.path() + "/a/b/c"), 0);
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() + "/a/b/c"));
}

TEST(FilesNewestFirst, ComparesVersionsAsNumbers) {
  test::TemporaryFolder folder;
  for (const char* version : {"9.2", "12.4", "12.10"}) ASSERT_EQ(make_folders(folder.path() + "/cuda-" + version), 0);

  const std::vector<std::string> found = files_newest_first(folder.path() + "/cuda-*");

  const std::string prefix = folder.path() + "/cuda-";
  EXPECT_EQ(found, (std::vector<std::string>{prefix + "12.10", prefix + "12.4", prefix + "9.2"}));
}

TEST(AbsolutePath, DropsLeadingDots) {
  char here[4096];
  ASSERT_NE(getcwd(here, sizeof here), nullptr);

  EXPECT_EQ(absolute_path("./a/b"), std::string(here) + "/a/b");
  EXPECT_EQ(absolute_path("/x"), "/x");
}

}  // namespace
}  // namespace profshim
