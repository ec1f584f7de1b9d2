#include <gtest/gtest.h>

#include <fstream>

#include "profshim/analysis/groups.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

TraceHead head(const std::string& folder, const std::string& role, int rank, int world_size) {
  return {.path = "out/" + folder + "/step1/rank" + std::to_string(rank) + ".json",
          .host = "node1",
          .run_name = folder,
          .role = role,
          .world_size = world_size,
          .ranks = {rank},
          .folder = "/out/" + folder,
          .launch = "launch"};
}

std::vector<std::string> titles(const std::vector<TraceGroup>& groups) {
  std::vector<std::string> result;
  for (const TraceGroup& group : groups) result.push_back(group.title());
  return result;
}

using Titles = std::vector<std::string>;

TEST(TraceGroups, AreOfOneRoleAndWorldSize) {
  const auto groups = group_traces({head("run", "trainer", 0, 2), head("run", "trainer", 1, 2),
                                    head("run-2", "rollout", 0, 1), head("run-3", "trainer", 0, 1)});

  EXPECT_EQ(titles(groups), (Titles{"trainer, ranks 0-1 of 2", "rollout, rank 0 of 1", "trainer, rank 0 of 1"}));
  EXPECT_EQ(groups[0].paths, (std::vector<std::string>{"out/run/step1/rank0.json", "out/run/step1/rank1.json"}));
}

TEST(TraceGroups, WithEqualRanksAreInTheOrderOfTheirFolders) {
  const auto groups =
      group_traces({head("run-10", "trial", 0, 1), head("run-2", "trial", 0, 1), head("run", "trial", 0, 1)});

  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].folder + groups[1].folder + groups[2].folder, "/out/run/out/run-2/out/run-10");
}

TEST(TraceGroups, HoldAllWindowsOfARank) {
  TraceHead later = head("run", "trainer", 0, 2);
  later.path = "out/run/step9/rank0.json";

  EXPECT_EQ(group_traces({head("run", "trainer", 0, 2), later}).size(), 1u);
}

TEST(TraceGroups, HoldRanksWithRunFoldersOfTheirOwn) {
  std::vector<TraceHead> traces = {head("rank0", "", 0, 2), head("rank1", "", 1, 2)};
  for (TraceHead& trace : traces) trace.run_name = "run";
  EXPECT_EQ(titles(group_traces(traces)), Titles{"ranks 0-1 of 2"});

  traces[1].ranks = {0};
  EXPECT_EQ(group_traces(traces).size(), 2u);
}

TEST(TraceGroups, HoldHostsThatMadeNamesOfTheirOwn) {
  std::vector<TraceHead> traces = {head("a", "", 0, 2), head("b", "", 1, 2)};
  EXPECT_EQ(group_traces(traces).size(), 2u);

  traces[1].host = "node2";
  EXPECT_EQ(group_traces(traces).size(), 1u);
}

TEST(TraceGroups, OfDifferentOrUnknownLaunchesStayTogetherUnlessTold) {
  for (const char* const other : {"", "other"}) {
    std::vector<TraceHead> traces = {head("run", "trial", 0, 1), head("run-2", "trial", 0, 1)};
    traces[1].launch = other;

    const auto groups = group_traces(traces);
    EXPECT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].paths.size(), 2u);
    EXPECT_EQ(group_traces(traces, /*several_runs=*/true).size(), 2u);
  }
}

TEST(TraceGroups, LaunchesAreConnectedByCommonWords) {
  EXPECT_TRUE(are_of_one_launch({"node1/7/1"}));
  EXPECT_TRUE(are_of_one_launch({"node1/7/1", "ray-s node1/7/1", "ray-s node2/8/2"}));
  EXPECT_FALSE(are_of_one_launch({"node1/7/1", "ray-s node1/7/1", "ray-t node2/8/2"}));
  EXPECT_FALSE(are_of_one_launch({"", "node1/7/1"}));
  EXPECT_FALSE(are_of_one_launch({""}));
  EXPECT_FALSE(are_of_one_launch({}));
}

TEST(TraceGroups, HeadOfATrace) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/a.json";
  std::ofstream(path) << R"({"distributedInfo": {"rank": 1, "world_size": 2}, "host_name": "node1", "profshim": {
      "run_name": "run-2", "scope": {"recorded": ["cpu"], "role": "rollout"}}, "traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})";

  const TraceHead head = read_trace_head(path), none = read_trace_head(folder.path() + "/missing.json");

  EXPECT_EQ(head.run_name + " " + head.role + " " + head.host, "run-2 rollout node1");
  EXPECT_EQ(head.ranks, std::set<int>{1});
  EXPECT_EQ(head.world_size, 2);
  EXPECT_TRUE(none.ranks.empty());
}

}  // namespace
}  // namespace profshim
