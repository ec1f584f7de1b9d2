#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "unit/analysis/compare/made_runs.h"

namespace profshim {
namespace {

using test::failures;
using test::noisy_run;
using test::row;

TEST(Compare, TwoHundredPairsOfTheSameDistributionNeverFail) {
  std::mt19937 random(4711);
  int failed = 0;
  for (int pair = 0; pair < 200; ++pair) {
    const double sigma = 0.02 + 0.6 * pair / 200;
    const RunProfile base = noisy_run(random, sigma), run = noisy_run(random, sigma);

    failed += compare_runs({base}, run, {}).failed();
  }
  EXPECT_EQ(failed, 0);
}

TEST(Compare, FindsTwentyPercentInTwentySteps) {
  std::mt19937 random(42);
  int step_time = 0, kernel = 0;
  for (int pair = 0; pair < 100; ++pair) {
    std::vector<RunProfile> base;
    for (int i = 0; i < 6; ++i) base.push_back(noisy_run(random, 0.05));
    const RunProfile run = noisy_run(random, 0.05, 1.2);

    const Comparison comparison = compare_runs(base, run, {});
    for (const Change* c : failures(comparison)) {
      step_time += c->name == "step time";
      kernel += c->name == "gemm<128, 64>";
    }
  }
  EXPECT_GE(step_time, 99);
  EXPECT_GE(kernel, 99);
}

TEST(Compare, FivePercentFailNobody) {
  std::mt19937 random(7);
  const RunProfile base = noisy_run(random, 0.01), run = noisy_run(random, 0.01, 1.05);

  EXPECT_FALSE(compare_runs({base}, run, {}).failed());
}

// Another program may slow many adjacent steps, here half of the run.
TEST(Compare, ASlowHalfOfARunFailsNobody) {
  std::mt19937 random(8);
  const RunProfile base = noisy_run(random, 0.02);
  RunProfile run = noisy_run(random, 0.02, 1.5);
  for (ProfileRank& rank : run.ranks) {
    for (std::size_t i = 0; i < 9; ++i) {
      rank.step_ns[i] = base.ranks[0].step_ns[i];
      rank.rows.begin()->second.time_ns[i] = 1000;
      rank.rows[{RowKind::kKernel, "gemm<128, 64>"}].time_ns[i] = 6'000'000;
    }
  }

  EXPECT_FALSE(compare_runs({base}, run, {}).failed());
}

TEST(Compare, EachRunOfABaselineMustBeFaster) {
  std::mt19937 random(9);
  const RunProfile fast = noisy_run(random, 0.02), slow = noisy_run(random, 0.02, 1.3);
  const RunProfile run = noisy_run(random, 0.02, 1.3);

  EXPECT_TRUE(compare_runs({fast}, run, {}).failed());
  EXPECT_FALSE(compare_runs({fast, slow}, run, {}).failed());
}

TEST(Compare, WaitsThatGrowInAStepThatDoesNotAreANote) {
  std::mt19937 random(10);
  const RunProfile base = noisy_run(random, 0.02);
  RunProfile run = noisy_run(random, 0.02);
  for (ProfileRank& rank : run.ranks) {
    for (std::int64_t& ns : rank.rows[{RowKind::kCall, "MPI_Allreduce"}].time_ns) ns *= 2;
  }

  const Comparison comparison = compare_runs({base}, run, {});

  EXPECT_FALSE(comparison.failed());
  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].verdict, Change::Verdict::kNote);
  EXPECT_EQ(comparison.changes[0].name, "MPI_Allreduce");
}

TEST(Compare, SaysHowManyStepsItTakesToTell) {
  std::mt19937 random(11);
  const RunProfile base = noisy_run(random, 0.02, 1, 3), run = noisy_run(random, 0.02, 2, 3);

  const Comparison comparison = compare_runs({base}, run, {});

  EXPECT_FALSE(comparison.failed());
  ASSERT_FALSE(comparison.changes.empty());
  const Change& step = *std::find_if(comparison.changes.begin(), comparison.changes.end(),
                                     [](const Change& c) { return c.name == "step time"; });
  EXPECT_EQ(step.verdict, Change::Verdict::kCannotTell);
  EXPECT_EQ(step.sentence, "cannot tell: too few steps (each run needs 5)");
}

TEST(Compare, OneCallMoreInOneStepOfOneRankFails) {
  std::mt19937 random(12);
  const RunProfile base = noisy_run(random, 0.02);
  RunProfile run = base;
  run.ranks[1].rows[{RowKind::kCall, "MPI_Allreduce"}].count[7] = 2;

  const Comparison comparison = compare_runs({base}, run, {});

  const auto failed = failures(comparison);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]->name, "MPI_Allreduce");
  EXPECT_EQ(failed[0]->before, 1.0);
  EXPECT_EQ(failed[0]->after, 2.0);
  EXPECT_EQ(failed[0]->ranks, "1");
  EXPECT_EQ(failed[0]->steps, "1 of 20 steps");
}

TEST(Compare, KernelsThatDifferInADigitAreTwo) {
  std::mt19937 random(13);
  const RunProfile base = noisy_run(random, 0.02);
  RunProfile run = base;
  for (ProfileRank& rank : run.ranks) {
    auto node = rank.rows.extract({RowKind::kKernel, "gemm<128, 64>"});
    node.key().second = "gemm<128, 32>";
    rank.rows.insert(std::move(node));
  }

  const Comparison comparison = compare_runs({base}, run, {});

  std::map<std::string, std::string> found;
  for (const Change* c : failures(comparison)) {
    if (c->what == Change::What::kCount) found[c->name] = c->sentence;
  }
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"gemm<128, 64>", "gone"}, {"gemm<128, 32>", "new"}}));
}

TEST(Compare, WhatOtherThreadsDoMayCrossABoundary) {
  std::mt19937 random(14);
  RunProfile base = noisy_run(random, 0.02);
  for (ProfileRank& rank : base.ranks) rank.rows[{RowKind::kCall, "MPI_Allreduce"}].other_threads = true;
  RunProfile moved = base, more = base;
  moved.ranks[0].rows[{RowKind::kCall, "MPI_Allreduce"}].count[3] = 0;
  moved.ranks[0].rows[{RowKind::kCall, "MPI_Allreduce"}].count[4] = 2;
  for (std::int64_t& count : more.ranks[0].rows[{RowKind::kCall, "MPI_Allreduce"}].count) ++count;

  EXPECT_FALSE(compare_runs({base}, moved, {}).failed());
  EXPECT_TRUE(compare_runs({base}, more, {}).failed());
}

TEST(Compare, PollsAreNotCounted) {
  std::mt19937 random(15);
  RunProfile base = noisy_run(random, 0.02);
  row(base.ranks[0], RowKind::kCall, "MPI_Test").count[0] = 100;
  RunProfile run = base;
  run.ranks[0].rows[{RowKind::kCall, "MPI_Test"}].count[0] = 90;

  const Comparison comparison = compare_runs({base}, run, {});

  EXPECT_FALSE(comparison.failed());
  EXPECT_EQ(comparison.not_compared, std::vector<std::string>{"MPI_Test"});
}

std::string why_not(const RunProfile& base, const RunProfile& run) {
  try {
    compare_runs({base}, run, {});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Compare, SaysWhyTwoCannotBeCompared) {
  std::mt19937 random(16);
  const RunProfile base = noisy_run(random, 0.02);
  RunProfile larger = base, missing = base, other_steps = base, no_steps = base;
  larger.world_size = 4;
  missing.ranks.pop_back();
  for (ProfileRank& rank : other_steps.ranks) {
    for (auto& step : rank.steps) step.first += 100;
  }
  no_steps.has_steps = false;

  EXPECT_NE(why_not(base, larger).find("a job of 2 ranks, run of a job of 4"), std::string::npos)
      << why_not(base, larger);
  EXPECT_NE(why_not(base, missing).find("ranks 0-1, run has rank 0"), std::string::npos) << why_not(base, missing);
  EXPECT_NE(why_not(base, other_steps).find("no step of rank 0 in common"), std::string::npos);
  EXPECT_NE(why_not(base, no_steps).find("has steps"), std::string::npos);
}

}  // namespace
}  // namespace profshim
