#include <gtest/gtest.h>

#include "profshim/output.h"
#include "run_folder_fixture.h"
#include "unit/temporary_folder.h"

namespace profshim::output {
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

// torchrun starts a smaller group again.
TEST(OpenRun, AGroupThatIsStartedAgainMayHaveAnotherSize) {
  test::TemporaryFolder folder;
  const RunFolder first = open_group(folder.path(), "", 0, 4);
  test::end_creator(first.path + "/.profshim-run");
  EXPECT_EQ(open_group(folder.path(), "", 0, 3).path, first.path);
}

}  // namespace
}  // namespace profshim::output
