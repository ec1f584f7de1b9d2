#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "profshim/base/atomic_file.h"
#include "profshim/base/files.h"
#include "profshim/base/log.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

namespace fs = std::filesystem;

int error_of(const std::string& path, std::uint64_t most = 100) {
  std::string text;
  int error = 0;
  const bool read = read_small_file(path, most, text, error);
  EXPECT_EQ(read, error == 0);
  return error;
}

TEST(ReadSmallFile, ReadsARegularFileOfThatSize) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << std::string(100, 'x');
  std::string text;
  int error = 0;

  EXPECT_TRUE(read_small_file(path, 100, text, error));
  EXPECT_EQ(text.size(), 100u);
  EXPECT_EQ(error_of(path, 99), EFBIG);
}

// Reading a pipe could block; /dev/zero would fill the memory.
TEST(ReadSmallFile, RefusesEverythingButRegularFiles) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder.path() + "/pipe").c_str(), 0666), 0);
  fs::create_symlink("/dev/zero", folder.path() + "/zero");
  fs::create_directory(folder.path() + "/folder");

  EXPECT_EQ(error_of(folder.path() + "/pipe"), EINVAL);
  EXPECT_EQ(error_of(folder.path() + "/zero"), ELOOP);
  EXPECT_EQ(error_of(folder.path() + "/folder"), EINVAL);
  EXPECT_EQ(error_of(folder.path() + "/none"), ENOENT);
  EXPECT_EQ(error_of("/dev/zero"), EINVAL);
}

TEST(RandomText, DiffersEachTime) {
  EXPECT_EQ(random_text().size(), 16u);
  EXPECT_NE(random_text(), random_text());
}

TEST(OpenFolderBelow, CreatesMissingFoldersAndFollowsOurLinks) {
  const test::TemporaryFolder folder;
  const Descriptor top = open_folder(folder.path());
  fs::create_directory(folder.path() + "/elsewhere");
  fs::create_symlink("elsewhere", folder.path() + "/link");

  EXPECT_TRUE(open_folder_below(top.get(), "a/b"));
  EXPECT_TRUE(open_folder_below(top.get(), "link/c"));

  EXPECT_TRUE(fs::is_directory(folder.path() + "/a/b"));
  EXPECT_TRUE(fs::is_directory(folder.path() + "/elsewhere/c"));
}

TEST(OpenFolderBelow, RefusesALinkOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() + "/ours");
  fs::create_symlink("ours", folder.path() + "/link");
  ASSERT_EQ(lchown((folder.path() + "/link").c_str(), 65534, 65534), 0);
  const Descriptor top = open_folder(folder.path());

  const Descriptor below = open_folder_below(top.get(), "link/c");

  EXPECT_FALSE(below);
  EXPECT_EQ(errno, ELOOP);
  EXPECT_FALSE(fs::exists(folder.path() + "/ours/c"));
  EXPECT_FALSE(open_folder(folder.path() + "/link")) << "as the folder itself";
}

constexpr uid_t kOther = 65534;

TEST(OpenFolder, ALinkAboveItIsCheckedLikeItself) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const test::TemporaryFolder folder;
  const std::string link = folder.path() + "/link";
  fs::create_directories(folder.path() + "/real/a/b");
  fs::create_symlink("real", link);
  EXPECT_TRUE(open_folder(link + "/a/b")) << "a link of ours is followed";
  ASSERT_EQ(lchown(link.c_str(), kOther, kOther), 0);
  std::string refused;

  EXPECT_FALSE(open_folder(link + "/a/b", &refused));

  EXPECT_EQ(errno, ELOOP);
  EXPECT_EQ(refused, link);
  EXPECT_FALSE(make_folder(link + "/a/c"));
  EXPECT_FALSE(fs::exists(folder.path() + "/real/a/c"));
}

TEST(OpenFolder, ALinkOfTheOwnerOfItsTargetIsFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const test::TemporaryFolder folder;
  const std::string link = folder.path() + "/link";
  fs::create_directories(folder.path() + "/real/a");
  fs::create_symlink("real", link);
  ASSERT_EQ(lchown(link.c_str(), kOther, kOther), 0);
  ASSERT_EQ(chown((folder.path() + "/real").c_str(), kOther, kOther), 0);

  EXPECT_TRUE(open_folder(link + "/a"));
}

// The target of our link is a path, too.
TEST(OpenFolder, ALinkInTheTargetOfALinkIsChecked) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const test::TemporaryFolder folder;
  fs::create_directories(folder.path() + "/real/a");
  fs::create_symlink("real", folder.path() + "/theirs");
  fs::create_symlink(folder.path() + "/theirs/a", folder.path() + "/ours");
  ASSERT_EQ(lchown((folder.path() + "/theirs").c_str(), kOther, kOther), 0);

  EXPECT_FALSE(open_folder(folder.path() + "/ours"));
}

TEST(OpenFolder, FollowsLinksOfEveryForm) {
  const test::TemporaryFolder folder;
  const std::string top = folder.path();
  fs::create_directories(top + "/a/b");
  fs::create_symlink("../a/./b", top + "/a/up");
  fs::create_symlink(top + "/a", top + "/whole");
  fs::create_symlink("whole/up", top + "/chain");
  fs::create_symlink("loop", top + "/loop");
  std::ofstream(top + "/file") << "no folder";

  for (const char* path : {"/a/up", "/whole/b", "/chain", "/a//b/", "/a/../a/b", "/chain/../up"})
    EXPECT_TRUE(open_folder(top + path)) << path;
  EXPECT_FALSE(open_folder(top + "/loop/x"));
  EXPECT_EQ(errno, ELOOP);
  EXPECT_FALSE(open_folder(top + "/file/x"));
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_FALSE(open_folder(top + "/none/x"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_TRUE(open_folder("/"));
  EXPECT_TRUE(open_folder("."));
}

TEST(MakeFolder, MakesMissingLevelsButNotTheTargetOfALink) {
  const test::TemporaryFolder folder;
  fs::create_symlink(folder.path() + "/none", folder.path() + "/dangling");
  fs::create_directory(folder.path() + "/real");
  fs::create_symlink("real", folder.path() + "/link");

  EXPECT_TRUE(make_folder(folder.path() + "/a/b/c"));
  EXPECT_TRUE(make_folder(folder.path() + "/link/b/c"));
  EXPECT_FALSE(make_folder(folder.path() + "/dangling/b"));

  EXPECT_TRUE(fs::is_directory(folder.path() + "/a/b/c"));
  EXPECT_TRUE(fs::is_directory(folder.path() + "/real/b/c"));
  EXPECT_FALSE(fs::exists(folder.path() + "/none"));
}

TEST(RemoveIfSame, KeepsAFileThatHasReplacedIt) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "first";
  struct stat first {};
  ASSERT_EQ(stat(path.c_str(), &first), 0);
  std::ofstream(folder.path() + "/second") << "second";
  fs::rename(folder.path() + "/second", path);
  const Descriptor top = open_folder(folder.path());

  EXPECT_FALSE(remove_if_same(top.get(), "file", first));
  EXPECT_TRUE(fs::exists(path));

  struct stat now {};
  ASSERT_EQ(stat(path.c_str(), &now), 0);
  EXPECT_TRUE(remove_if_same(top.get(), "file", now));
  EXPECT_FALSE(fs::exists(path));
}

TEST(AtomicFile, DoesNotWriteThroughALinkOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a link to another user";
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() + "/ours");
  fs::create_symlink("ours", folder.path() + "/step1");
  ASSERT_EQ(lchown((folder.path() + "/step1").c_str(), 65534, 65534), 0);
  AtomicFile file;

  EXPECT_FALSE(file.open(folder.path(), "step1/rank0.json"));

  EXPECT_EQ(file.error(), ELOOP);
  EXPECT_TRUE(fs::is_empty(folder.path() + "/ours"));
}

TEST(AtomicFile, CreatesTheFoldersOfItsName) {
  const test::TemporaryFolder folder;
  AtomicFile file;

  ASSERT_TRUE(file.open(folder.path(), "a/b/rank0.json"));
  ASSERT_TRUE(file.publish(AtomicFile::Existing::kKeepExisting));

  EXPECT_TRUE(fs::exists(folder.path() + "/a/b/rank0.json"));
}

TEST(AtomicFile, AcceptsTheLongestName) {
  const test::TemporaryFolder folder;
  const std::string name(255, 'n');
  AtomicFile file;

  ASSERT_TRUE(file.open(folder.path() + "/" + name));
  ASSERT_TRUE(file.publish(AtomicFile::Existing::kReplace));

  EXPECT_TRUE(fs::exists(folder.path() + "/" + name));
}

TEST(Log, RefusesAPipeAndALinkOfAnotherUser) {
  const test::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe", link = folder.path() + "/link", ours = folder.path() + "/ours";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  std::ofstream(ours) << "kept\n";
  fs::create_symlink(ours, link);

  log::set_file(pipe);
  log::line(LogLevel::kError, "this would block");
  if (geteuid() == 0) {
    ASSERT_EQ(lchown(link.c_str(), 65534, 65534), 0);
    log::set_file(link);
    log::line(LogLevel::kError, "this would go elsewhere");
  }
  log::set_file("");

  EXPECT_EQ(fs::file_size(ours), 5u);
}

}  // namespace
}  // namespace profshim
