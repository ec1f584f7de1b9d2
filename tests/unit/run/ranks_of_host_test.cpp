#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profshim/run/manifest.h"
#include "unit/temporary_folder.h"

namespace profshim::run {
namespace {

Manifest manifest_of(int rank, int pid, const std::string& state, const std::string& host = "here") {
  Manifest manifest;
  manifest.rank.rank = rank;
  manifest.rank.host = host;
  manifest.pid = pid;
  manifest.state = state;
  return manifest;
}

int ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

class RanksOfHostTest : public ::testing::Test {
 protected:
  RanksOfHost others() { return {folder.path(), own}; }

  test::TemporaryFolder folder;
  const Manifest own = manifest_of(0, getpid(), "active");
};

TEST_F(RanksOfHostTest, ARankWritesUntilItsLastFile) {
  write_manifest(folder.path(), own);
  write_manifest(folder.path(), manifest_of(1, getppid(), "active"));
  write_manifest(folder.path(), manifest_of(2, getppid(), "finished"));
  RanksOfHost ranks = others();

  EXPECT_TRUE(ranks.some_still_write());
  write_manifest(folder.path(), manifest_of(1, getppid(), "finished"));
  EXPECT_FALSE(ranks.some_still_write());
}

TEST_F(RanksOfHostTest, TheOwnRankIsNone) {
  write_manifest(folder.path(), own);
  EXPECT_FALSE(others().some_still_write());
}

TEST_F(RanksOfHostTest, ARankOfAnotherHostIsNone) {
  write_manifest(folder.path(), manifest_of(1, getppid(), "active", "there"));
  EXPECT_FALSE(others().some_still_write());
}

TEST_F(RanksOfHostTest, AnEndedProcessIsNone) {
  write_manifest(folder.path(), manifest_of(1, ended_process(), "active"));
  EXPECT_FALSE(others().some_still_write());
}

TEST_F(RanksOfHostTest, AManifestThatGoesAwayIsNone) {
  write_manifest(folder.path(), manifest_of(1, getppid(), "active"));
  RanksOfHost ranks = others();
  ASSERT_EQ(unlink((folder.path() + "/manifest-rank1.json").c_str()), 0);
  EXPECT_FALSE(ranks.some_still_write());
}

}  // namespace
}  // namespace profshim::run
