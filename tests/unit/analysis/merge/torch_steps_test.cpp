#include <gtest/gtest.h>

#include <map>

#include "unit/analysis/merge/torch_rank.h"

namespace profshim::analysis_detail::test {
namespace {

TEST_F(MergeTorchTest, CallsOfTheSameStepMatch) {
  const auto rank = [](double late) {
    return Rank()
        .step(5, 0, 1000)
        .gloo("allreduce_", 10 + late, 100)
        .gloo("barrier", 200, 300)
        .gloo("allgather_", 400 + late, 500);
  };

  expect_matches(rank(0), rank(40), 3);

  EXPECT_LT(result_.ranks[1].error_us, 105);
  EXPECT_EQ(result_.collectives, 3u);
}

TEST_F(MergeTorchTest, AStepThatOneRankLacksDoesNotMatch) {
  const auto calls = [](Rank rank, double from) {
    return rank.gloo("allreduce_", from + 10, from + 100).gloo("allreduce_", from + 200, from + 300);
  };
  const Rank first = calls(calls(Rank().step(5, 0, 1000).step(6, 1000, 2000), 0), 1000);
  const Rank second = calls(calls(Rank().step(6, 1000, 2000).step(7, 2000, 3000), 1000), 2000);

  expect_matches(first, second, 2);
}

TEST_F(MergeTorchTest, AStepDoesNotMatchIfOneRankHasMoreCalls) {
  const auto rank = [] { return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("allreduce_", 200, 300); };
  expect_no_match(rank(), rank().gloo("allreduce_", 400, 500));
}

TEST_F(MergeTorchTest, AStepDoesNotMatchIfSizesDiffer) {
  expect_no_match(Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100, "[[8, 3]]"),
                  Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100, "[[8, 4]]"));
}

TEST_F(MergeTorchTest, AStepDoesNotMatchIfTheOrderDiffers) {
  expect_no_match(Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("barrier", 200, 300),
                  Rank().step(5, 0, 1000).gloo("barrier", 10, 100).gloo("allreduce_", 200, 300));
}

TEST_F(MergeTorchTest, ACallThatCrossesTheBorderOfAStepSpoilsBoth) {
  const auto rank = [](double crossing) {
    return Rank()
        .step(5, 0, 1000)
        .step(6, 1000, 2000)
        .step(7, 2000, 3000)
        .gloo("allreduce_", 10, 100)
        .gloo("allreduce_", crossing, 1100)
        .gloo("allreduce_", 1200, 1300)
        .gloo("allreduce_", 2100, 2200);
  };
  expect_matches(rank(990), rank(1010), 1);
}

TEST_F(MergeTorchTest, CallsOutsideOfStepsDoNotMatch) {
  const auto rank = [] { return Rank().step(5, 0, 1000).gloo("allreduce_", 1010, 1100).gloo("barrier", 1200, 1300); };
  expect_no_match(rank(), rank());
}

TEST_F(MergeTorchTest, NothingMatchesIfStepsRepeatOrOverlap) {
  const auto twice = [] { return Rank().step(5, 0, 1000).step(5, 1000, 2000).gloo("allreduce_", 10, 100); };
  expect_no_match(twice(), twice());
  const auto both = [] { return Rank().step(5, 0, 1000).step(6, 500, 2000).gloo("allreduce_", 10, 100); };
  expect_no_match(both(), both());
}

// A second thread may be one call behind in every step, so its calls match only in backward functions.
TEST_F(MergeTorchTest, CallsOfAnotherThreadDoNotMatch) {
  const auto rank = [] {
    return Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("allreduce_", 200, 300, "[[4]]", 2);
  };
  expect_no_match(rank(), rank());
  const HandEvent backward{"cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 190, 150, 2};
  expect_matches(rank().event(backward), rank().event(backward), 2);
}

TEST_F(MergeTorchTest, StepsMadeFromTimeDoNotMatch) {
  const auto rank = [](const std::string& source) {
    return Rank()
        .members(R"("profshim": {"steps": {"source": ")" + source + "\"}}, ")
        .step(5, 0, 1000)
        .gloo("allreduce_", 10, 100)
        .gloo("allreduce_", 200, 300);
  };
  expect_matches(rank("torch"), rank("torch"), 2);
  expect_no_match(rank("time 1 ms"), rank("time 1 ms"));
}

TEST_F(MergeTorchTest, AWindowWithoutStepsMatchesIfItsCallsAreDistinct) {
  const auto rank = [](double late) {
    return Rank()
        .gloo("broadcast_", 10, 20)
        .gloo("allreduce_", 100 + late, 200)
        .gloo("allreduce_", 300, 400)
        .gloo("barrier", 500 + late, 600);
  };
  expect_matches(rank(0), rank(50), 3);
}

TEST_F(MergeTorchTest, AWindowWithoutStepsDoesNotMatchIfItsCallsRepeat) {
  const auto rank = [](double from) {
    Rank made;
    for (double at = from; at < from + 4000; at += 400)
      made.gloo("allreduce_", at, at + 100).gloo("barrier", at + 200, at + 300);
    return made;
  };
  expect_no_match(rank(0), rank(400));
  expect_no_match(Rank().gloo("allreduce_", 10, 100), Rank().gloo("allreduce_", 410, 500));
}

TEST_F(MergeTorchTest, CallsAreCountedForEachGroup) {
  const auto rank = [](bool other_first) {
    return Rank()
        .groups("[]")
        .step(5, 0, 2000)
        .in_group("0", "[0, 1]", 10, 100)
        .in_group(other_first ? "7" : "0", "[0, 1]", 200, 300)
        .in_group(other_first ? "0" : "7", "[0, 1]", 400, 500);
  };
  // The second call of each rank is the third call of the other rank.
  const RankTrace a = scan_rank_trace(write(rank(true).json(0, 0))), b = scan_rank_trace(write(rank(false).json(1, 0)));
  ASSERT_EQ(a.sync_points.size(), 3u);
  ASSERT_EQ(b.sync_points.size(), 3u);
  const auto begins = [](const RankTrace& trace, std::uint64_t key) {
    for (const SyncPoint& m : trace.sync_points)
      if (m.key == key) return m.begin_ns / 1000;
    return std::int64_t{-1};
  };
  std::map<std::int64_t, std::int64_t> pairs;
  for (const SyncPoint& m : a.sync_points) pairs[m.begin_ns / 1000] = begins(b, m.key);
  EXPECT_EQ(pairs, (std::map<std::int64_t, std::int64_t>{{16, 16}, {206, 406}, {406, 206}}));
}

TEST_F(MergeTorchTest, CallsOfAGroupOfOneDoNotCount) {
  const auto rank = [](const std::string& own) {
    return Rank().groups("[]").step(5, 0, 1000).in_group("3", own, 10, 100, 1).in_group("0", "[0, 1]", 200, 300);
  };
  expect_matches(rank("[0]"), rank("[1]"), 1);
  const auto alone = [] {
    return Rank().groups(R"([{"pg_name": "0", "pg_size": 1, "ranks": [0]}])").step(5, 0, 1000).gloo("barrier", 10, 100);
  };
  expect_no_match(alone(), alone());
}

TEST_F(MergeTorchTest, CallsWithoutAGroupMatchIfAllGroupsHaveTheSameMembers) {
  const auto rank = [](const std::string& groups) {
    return Rank().groups(groups).step(5, 0, 1000).gloo("allreduce_", 10, 100);
  };
  const std::string all = R"({"pg_name": "0", "pg_size": 2, "ranks": []})";
  expect_matches(rank("[" + all + "]"), rank("[" + all + "]"), 1);
  expect_matches(rank("[" + all + ", " + all + "]"), rank("[" + all + ", " + all + "]"), 1);
  const std::string others = "[" + all + R"(, {"pg_name": "1", "pg_size": 3, "ranks": [0, 1, 2]}])";
  expect_no_match(rank(others), rank(others));
  expect_no_match(rank("[]"), rank("[]"));
}

TEST_F(MergeTorchTest, RanksOfDifferentGroupsDoNotMatch) {
  const auto rank = [](const std::string& ranks) {
    return Rank()
        .groups(R"([{"pg_name": "0", "pg_size": 2, "ranks": )" + ranks + "}]")
        .step(5, 0, 1000)
        .gloo("barrier", 10, 100);
  };
  expect_no_match(rank("[0, 2]"), rank("[1, 3]"));
}

TEST_F(MergeTorchTest, OnlyCollectivesThatWaitForAllMembersCount) {
  const auto rank = [] {
    return Rank()
        .step(5, 0, 3000)
        .gloo("broadcast_", 10, 100)
        .call("c10d::reduce_", 200, "")
        .call("c10d::alltoall_base_", 300, "")
        .call("c10d::send", 400, "")
        .gloo("allreduce_", 500, 600, "[[3, 0]]");
  };
  expect_no_match(rank(), rank());
  expect_matches(rank().gloo("barrier", 700, 800), rank().gloo("barrier", 700, 800), 1);
}

TEST_F(MergeTorchTest, MessagesAreNotCounted) {
  expect_matches(
      Rank().step(5, 0, 1000).call("c10d::send", 10, "").gloo("barrier", 200, 300),
      Rank().step(5, 0, 1000).call("c10d::recv_", 10, "").call("c10d::recv_", 20, "").gloo("barrier", 200, 300), 1);
}

// `other` has wrong step numbers, so all matches are wrong.
TEST_F(MergeTorchTest, CallsThatContradictTheClockOfAHostAreDropped) {
  const auto rank = [](int number, double clock_us) {
    return Rank()
        .host("one")
        .step(number, clock_us, clock_us + 1000)
        .step(number + 1, clock_us + 1000, clock_us + 2000)
        .gloo("allreduce_", clock_us + 10, clock_us + 100)
        .gloo("allreduce_", clock_us + 1010, clock_us + 1100);
  };

  // kBehind_us undoes the clock shift of merge(), so both ranks share a clock.
  const MergedRank same = merge(rank(5, 0), rank(5, kBehind_us)), other = merge(rank(5, 0), rank(4, kBehind_us));

  EXPECT_EQ(same.clock, "same host");
  EXPECT_EQ(same.moments, 4u);
  EXPECT_EQ(other.clock, "same host");
  EXPECT_EQ(other.moments, 0u);
  EXPECT_EQ(other.error_us, -1);
  ASSERT_EQ(result_.warnings.size(), 1u);
  EXPECT_NE(result_.warnings[0].find("step by step"), std::string::npos);
  EXPECT_EQ(result_.collectives, 0u);
}

TEST_F(MergeTorchTest, CallsThatContradictEachOtherAreDropped) {
  const auto rank = [](double second) {
    return Rank()
        .step(5, 0, 1000)
        .step(6, 1000, 9000)
        .gloo("allreduce_", 10, 100)
        .gloo("allreduce_", second, second + 100);
  };
  expect_matches(rank(1010), rank(1010), 2);
  EXPECT_TRUE(result_.warnings.empty());
  expect_no_match(rank(1010), rank(1610));
  EXPECT_EQ(result_.warnings.size(), 1u);
}

TEST_F(MergeTorchTest, ATraceThatLostEventsHasNoCallsToCount) {
  const auto rank = [](int lost) {
    return Rank()
        .members("\"profshim\": {\"dropped_events\": " + std::to_string(lost) + "}, ")
        .step(5, 0, 1000)
        .gloo("barrier", 10, 100);
  };
  expect_matches(rank(0), rank(0), 1);
  expect_no_match(rank(0), rank(1));
}

TEST_F(MergeTorchTest, CallsOfSeveralProcessesAreNotCounted) {
  const std::string text = Rank().step(5, 0, 1000).gloo("allreduce_", 10, 100).gloo("barrier", 200, 300).json(0, 0);
  EXPECT_EQ(scan_rank_trace(write(text)).sync_points.size(), 2u);
  std::string other = text;
  const std::size_t at = other.find("\"pid\"", other.find("c10d::barrier"));
  other.replace(at, std::string("\"pid\": 1").size(), "\"pid\": 2");
  EXPECT_EQ(scan_rank_trace(write(other)).sync_points.size(), 0u);
}

TEST_F(MergeTorchTest, ExtremeNumbersDoNoHarm) {
  const std::string step = R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)";
  const std::string text =
      R"({"distributedInfo": {"rank": 0, "world_size": 2, "pg_config": [{"pg_size": 9223372036854775807, "ranks":
         [-9223372036854775808, 5]}, {"pg_size": "x", "ranks": {"a": []}}, 7]}, "traceEvents": [)" +
      step + R"(99999999999999999999999","pid":1,"tid":1,"ts":0,"dur":5},)" + step +
      R"(-9223372036854775808","pid":1,"tid":-9223372036854775808,"ts":-9e300,"dur":9e300},)" + step +
      R"(","pid":1,"tid":1,"ts":0,"dur":-7},
      {"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":9e300,"dur":-9e300,"args":{
       "Collective name":"allreduce","In msg nelems":-9223372036854775808,"External id":-9223372036854775808,
       "Process Group Name":"0","Process Group Ranks":"[0]","Group size":9223372036854775807}},
      {"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":7,"ts":-9e300,"dur":9e300,"args":{
       "Collective name":"allreduce","External id":-9223372036854775808}},
      {"ph":"X","cat":"cpu_op","name":"gloo:","pid":1,"tid":1,"ts":0,"dur":1},
      {"ph":"b","cat":"c","name":"gloo:all_reduce","id":-1,"pid":1,"tid":1,"ts":9e300},
      {"ph":"e","cat":"c","name":"gloo:all_reduce","id":-1,"pid":1,"tid":1,"ts":-9e300},
      {"ph":"X","cat":"cpu_op","name":"c10d::","pid":1,"tid":1,"ts":0,"dur":1,"args":{"Input Dims":[[0]]}}]})";
  EXPECT_EQ(scan_rank_trace(write(text)).error, "");
}

}  // namespace
}  // namespace profshim::analysis_detail::test
