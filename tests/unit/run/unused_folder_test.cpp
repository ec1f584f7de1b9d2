// Run folders that runs without traces leave: of programs that the job has run, and of earlier runs.
#include <gtest/gtest.h>

#include "profshim/run/manifest.h"
#include "profshim/run/run_folder.h"
#include "run_folder_fixture.h"
#include "unit/temporary_folder.h"

namespace profshim::run {
namespace {

using test::end_creator;

RunFolder opened(const std::string& folder, const JobIdentity& job) {
  NameValues names;
  names.rank.rank = 0;
  return open_run(Spec(), folder, names, job, test::kNow);
}

TEST(RunFolderOfAProgramBelow, IsForTheJobIfItHasNoWindow) {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/run";
  const JobIdentity below = {.key = "child", .launch = "child", .ancestors = "x/1/2 " + own_process_word()};
  const JobIdentity job = {.key = "job", .launch = "job"};

  EXPECT_EQ(opened(path, below).path, path);
  EXPECT_EQ(opened(path, job).path, path + "-2") << "the program still runs";
  end_creator(path + "/.profshim-run", test::kJustNow);
  EXPECT_EQ(opened(path, job).path, path);
  EXPECT_EQ(opened(path, {.key = "other", .launch = "other"}).path, "") << "of the job by now";
}

TEST(RunFolderOfAProgramBelow, KeepsItsWindows) {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/run";
  ASSERT_EQ(opened(path, {.key = "child", .launch = "child", .ancestors = own_process_word()}).path, path);
  end_creator(path + "/.profshim-run", test::kJustNow);
  Manifest manifest;
  manifest.windows.emplace_back();
  ASSERT_TRUE(write_manifest(path, manifest));

  EXPECT_EQ(opened(path, {.key = "job", .launch = "job"}).path, path + "-2");
}

class RunFolderOfAnEarlierRun : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(opened(path, {.key = "earlier", .launch = "earlier"}).path, path); }
  void leave(const Manifest& manifest) { ASSERT_TRUE(write_manifest(path, manifest)); }
  void end() { end_creator(path + "/.profshim-run"); }
  std::string opened_by_next() { return opened(path, {.key = "next", .launch = "next"}).path; }

  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/run";
};

TEST_F(RunFolderOfAnEarlierRun, IsFreeIfTheRunHasNoTrace) {
  leave({});
  EXPECT_EQ(opened_by_next(), "") << "the run goes on";
  end();
  EXPECT_EQ(opened_by_next(), path);
}

TEST_F(RunFolderOfAnEarlierRun, KeepsItsTraces) {
  Manifest manifest;
  manifest.windows.emplace_back();
  leave(manifest);
  end();
  EXPECT_EQ(opened_by_next(), "");
}

TEST_F(RunFolderOfAnEarlierRun, KeepsTheManifestOfTracesThatAreElsewhere) {
  Manifest manifest;
  manifest.removed_traces = 3;
  leave(manifest);
  end();
  EXPECT_EQ(opened_by_next(), "");
}

}  // namespace
}  // namespace profshim::run
