#include <gtest/gtest.h>

#include "profshim/run/manifest.h"
#include "profshim/run/run_folder.h"
#include "run_folder_fixture.h"
#include "unit/temporary_folder.h"

namespace profshim::run {
namespace {

/// A process of a group of `world_size`. profshim chooses the name of the run.
RunFolder open_group(const std::string& parent, const std::string& role, int rank, int world_size, int from = 1) {
  NameValues names;
  names.rank.rank = rank;
  names.rank.world_size = world_size;
  names.rank.role = role;
  return open_run(Spec{}, parent + "/{run_name}", names,
                  {.key = "job1", .readable = "j", .program = "train", .launch = "launch1"}, test::kNow, from);
}

TEST(OpenRun, EachGroupOfProcessesHasItsFolder) {
  test::TemporaryFolder folder;
  const RunFolder trainers = open_group(folder.path(), "trainer", 0, 2);
  const RunFolder engine = open_group(folder.path(), "rollout", 0, 1);
  const RunFolder trial = open_group(folder.path(), "trainer", 0, 1);

  EXPECT_EQ(open_group(folder.path(), "trainer", 1, 2).path, trainers.path);
  EXPECT_EQ(engine.run_name, trainers.run_name + "-2");
  EXPECT_EQ(open_group(folder.path(), "rollout", 1, 1).path, engine.path);
  EXPECT_EQ(trial.run_name, trainers.run_name + "-3");
  EXPECT_EQ(open_group(folder.path(), "trainer", 0, 2, /*from=*/2).run_name, trainers.run_name + "-4")
      << "the rank was taken";
}

TEST(OpenRun, GroupsOfOneLaunchSayWhichLaunch) {
  test::TemporaryFolder folder;
  const RunFolder trainers = open_group(folder.path(), "trainer", 0, 2);
  const RunFolder engine = open_group(folder.path(), "rollout", 0, 1);

  EXPECT_EQ(launch_of(trainers.path), "launch1");
  EXPECT_EQ(launch_of(engine.path), "launch1");
  EXPECT_EQ(launch_of(folder.path()), "");
}

TEST(OpenRun, GroupsInAFolderThatTheSpecNamesHaveNumbers) {
  test::TemporaryFolder parent;
  const std::string folder = parent.path() + "/traces";
  const auto open = [&](const std::string& key, const std::string& launch, const std::string& role, int from = 1) {
    NameValues names;
    names.rank.rank = 0;
    names.rank.role = role;
    return open_run(Spec{}, folder, names, {.key = key, .readable = "j", .program = "train", .launch = launch},
                    test::kNow, from);
  };

  EXPECT_EQ(open("job", "job", "trainer").path, folder);
  EXPECT_EQ(open("job", "job", "rollout").path, folder + "-2");
  EXPECT_EQ(open("job", "job", "trainer", /*from=*/2).path, folder + "-3") << "the rank was taken";
  EXPECT_NE(open("other job", "other", "trainer").problem.find("holds the traces of another run"), std::string::npos);
  test::end_creator(folder + "/.profshim-run");
  Manifest manifest;
  manifest.windows.emplace_back();
  ASSERT_TRUE(write_manifest(folder, manifest));
  EXPECT_NE(open("later", "later", "trainer").problem, "");
}

// Actors of Ray have keys of their own.
TEST(OpenRun, JobsOfOneLaunchDoNotRefuseEachOthersFolder) {
  test::TemporaryFolder parent;
  const std::string folder = parent.path() + "/traces";
  const auto open = [&](const std::string& key, const std::string& launch) {
    return open_run(Spec{}, folder, NameValues{}, {.key = key, .readable = "j", .program = "ray", .launch = launch},
                    test::kNow);
  };

  EXPECT_EQ(open("actor 1", "session_1 driver").path, folder);
  EXPECT_EQ(open("actor 2", "session_1").path, folder + "-2");
  EXPECT_NE(open("actor of another cluster", "session_2").problem, "");
  test::end_creator(folder + "/.profshim-run", test::kJustNow);
  EXPECT_EQ(open("actor 3", "session_1").path, folder + "-3") << "actor 1 was short";
  test::make_a_day_old(folder + "/.profshim-run");
  for (const char* number : {"-2", "-3"}) test::end_creator(folder + number + "/.profshim-run");
  EXPECT_NE(open("actor of a later run", "session_1").problem, "") << "the cluster has outlived the run";
}

// torchrun starts a smaller group again.
TEST(OpenRun, AGroupThatIsStartedAgainMayHaveAnotherSize) {
  test::TemporaryFolder folder;
  const RunFolder first = open_group(folder.path(), "", 0, 4);
  test::end_creator(first.path + "/.profshim-run");
  EXPECT_EQ(open_group(folder.path(), "", 0, 3).path, first.path);
}

}  // namespace
}  // namespace profshim::run
