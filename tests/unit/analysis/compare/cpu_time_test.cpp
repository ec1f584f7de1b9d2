// The CPU time of the steps tells a slower program on a busy machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/analysis/compare/made_runs.h"

namespace profshim {
namespace {

constexpr std::size_t kManySteps = 40;

/// Two ranks of which other processes disturb most steps: their times say little, their CPU times much.
struct Made {
  double work_us = 1000;
  double disturbed = 0.7;    // share of the steps
  double cpu_noise = 0.05;   // from step to step
  double polling_us = 0;     // mean CPU time inside MPI calls
  double others = 2.5;       // CPUs used by other processes
  double other_threads = 0;  // CPU time of other threads, as a share of that of the step thread
  bool knows_instructions = false;
  double instructions_per_us = 3000;
};

RunProfile made_run(std::mt19937& random, const Made& made) {
  std::lognormal_distribution<double> noise(0, made.cpu_noise);
  std::exponential_distribution<double> pause(1 / 6000.0), polling(1 / std::max(made.polling_us, 1e-9));
  std::bernoulli_distribution is_disturbed(made.disturbed);
  RunProfile run;
  run.path = "run";
  run.world_size = 2;
  run.has_steps = true;
  run.machine = {.cpus = 2, .own = 1, .others = made.others, .waited = 1.5};
  const auto ns = [](double us) { return static_cast<std::int64_t>(us * 1000); };
  for (int r = 0; r < 2; ++r) {
    ProfileRank& rank = run.ranks.emplace_back();
    rank.rank = r;
    double cpu_us = 0, all_us = 0;
    for (std::size_t i = 0; i < kManySteps; ++i) {
      const double work = made.work_us * noise(random), poll = made.polling_us > 0 ? polling(random) : 0;
      const double wall = work + poll + (is_disturbed(random) ? pause(random) : 0);
      rank.steps.emplace_back(static_cast<std::int64_t>(10 + i), 0);
      rank.step_ns.push_back(ns(wall));
      rank.cpu_ns.push_back(ns(work + poll));
      rank.waiting_ns.push_back(ns(poll));
      if (made.knows_instructions)
        rank.instructions.push_back(static_cast<std::int64_t>(made.instructions_per_us * (made.work_us + poll)));
      cpu_us += work + poll;
      all_us += wall;
    }
    rank.communication_ns = rank.waiting_ns;
    rank.launches.resize(kManySteps);
    rank.mpi_bytes.resize(kManySteps);
    rank.cpus_used = cpu_us / all_us * (1 + made.other_threads);
  }
  return run;
}

const Change* find(const Comparison& comparison, const std::string& name) {
  const auto at = std::find_if(comparison.changes.begin(), comparison.changes.end(),
                               [&](const Change& c) { return c.name == name; });
  return at == comparison.changes.end() ? nullptr : &*at;
}

bool is_regression(const Comparison& comparison) {
  const Change* const cpu = find(comparison, "CPU time");
  return comparison.failed() && cpu != nullptr && cpu->verdict == Change::Verdict::kRegression;
}

TEST(CompareCpuTime, TellsFourTimesTheWorkOnABusyMachine) {
  std::mt19937 random(50);
  int found = 0;
  for (int i = 0; i < 20; ++i) {
    const RunProfile base = made_run(random, {}), run = made_run(random, {.work_us = 4000});
    found += is_regression(compare_runs({base}, run, {}));
  }
  EXPECT_EQ(found, 20);
}

TEST(CompareCpuTime, HasTheNumbersAndRanksInItsRow) {
  std::mt19937 random(51);
  const RunProfile base = made_run(random, {});
  RunProfile run = made_run(random, {.work_us = 4000});
  run.ranks[0] = base.ranks[0];

  const Comparison comparison = compare_runs({base}, run, {});
  const Change* const change = find(comparison, "CPU time");

  ASSERT_NE(change, nullptr);
  EXPECT_NEAR(*change->before, 1000, 100);
  EXPECT_NEAR(*change->after, 4000, 400);
  EXPECT_EQ(change->ranks, "1");
  EXPECT_EQ(change->sentence, "slower");
}

TEST(CompareCpuTime, OfEqualRunsFailsNobody) {
  std::mt19937 random(52);
  int failed = 0;
  for (int i = 0; i < 100; ++i) {
    const RunProfile quiet = made_run(random, {.disturbed = 0.05, .others = 0});
    const RunProfile busy = made_run(random, {.cpu_noise = 0.4}), other = made_run(random, {.cpu_noise = 0.4});
    failed += compare_runs({busy}, other, {}).failed() + compare_runs({quiet}, busy, {}).failed();
  }
  EXPECT_EQ(failed, 0);
}

// A busy machine lets a rank wait, and poll, for its neighbor.
TEST(CompareCpuTime, IsWithoutThePollingInsideCalls) {
  std::mt19937 random(53);
  const RunProfile base = made_run(random, {.polling_us = 100}), run = made_run(random, {.polling_us = 9000});

  EXPECT_FALSE(compare_runs({base}, run, {}).failed());
  EXPECT_TRUE(is_regression(compare_runs({base}, made_run(random, {.work_us = 4000, .polling_us = 9000}), {})));
}

TEST(CompareCpuTime, IsNotTestedIfTheThreadMayPollForOthers) {
  std::mt19937 random(54);
  const RunProfile base = made_run(random, {.other_threads = 1});
  const RunProfile run = made_run(random, {.work_us = 4000, .other_threads = 1});

  EXPECT_EQ(find(compare_runs({base}, run, {}), "CPU time"), nullptr);
}

TEST(CompareCpuTime, UpToTwiceMayBeAnotherUseOfTheCore) {
  std::mt19937 random(55);
  const RunProfile base = made_run(random, {}), run = made_run(random, {.work_us = 1900});

  EXPECT_FALSE(compare_runs({base}, run, {}).failed());
  EXPECT_TRUE(is_regression(compare_runs({base}, run, {.cpu_noise = 0.3})));
}

TEST(CompareCpuTime, NeedsLongerFastestSteps) {
  std::mt19937 random(56);
  const RunProfile base = made_run(random, {.disturbed = 0});
  RunProfile run = made_run(random, {.work_us = 4000, .disturbed = 0});
  for (ProfileRank& rank : run.ranks) {
    for (std::size_t i = 0; i < kManySteps; i += 6) {
      rank.step_ns[i] = base.ranks[0].step_ns[i];
      rank.cpu_ns[i] = base.ranks[0].cpu_ns[i];
    }
  }

  EXPECT_EQ(find(compare_runs({base}, run, {}), "CPU time"), nullptr);
}

TEST(CompareCpuTime, AQuietBaselineOfSeveralRunsTellsHowMuchItVaries) {
  std::mt19937 random(57);
  std::vector<RunProfile> base;
  for (int i = 0; i < 4; ++i) base.push_back(made_run(random, {.disturbed = 0, .others = 0}));
  const RunProfile quiet = made_run(random, {.work_us = 1500, .disturbed = 0, .others = 0});
  const RunProfile busy = made_run(random, {.work_us = 1500});

  EXPECT_TRUE(is_regression(compare_runs(base, quiet, {})));
  EXPECT_FALSE(compare_runs(base, busy, {}).failed());
  EXPECT_TRUE(is_regression(compare_runs(base, made_run(random, {.work_us = 4000}), {})));
}

TEST(CompareCpuTime, IsAsSureAsItsInstructions) {
  std::mt19937 random(58);
  const RunProfile base = made_run(random, {.knows_instructions = true});
  const RunProfile more = made_run(random, {.work_us = 1600, .knows_instructions = true});
  const RunProfile slower_core =
      made_run(random, {.work_us = 4000, .knows_instructions = true, .instructions_per_us = 750});

  EXPECT_TRUE(is_regression(compare_runs({base}, more, {})));
  EXPECT_EQ(find(compare_runs({base}, slower_core, {}), "CPU time"), nullptr);
}

// Seen on a busy machine: the window of equal runs was too short to measure the CPU use of the process.
TEST(CompareCpuTime, ExcusesALongerStepEvenIfThatOfTheProcessDoesNot) {
  std::mt19937 random(60);
  RunProfile base = made_run(random, {.disturbed = 0}), run = made_run(random, {.work_us = 1660, .disturbed = 0});
  for (ProfileRank& rank : base.ranks) rank.cpus_used = 0.9;
  for (ProfileRank& rank : run.ranks) rank.cpus_used = 0.4;

  const Comparison comparison = compare_runs({base}, run, {});

  EXPECT_FALSE(comparison.failed());
  ASSERT_NE(find(comparison, "step time"), nullptr);
  EXPECT_EQ(find(comparison, "step time")->verdict, Change::Verdict::kCannotTell);
}

TEST(CompareCpuTime, IsNotTestedInTracesWithoutIt) {
  std::mt19937 random(59);
  RunProfile base = made_run(random, {});
  const RunProfile run = made_run(random, {.work_us = 4000});
  for (ProfileRank& rank : base.ranks) {
    rank.cpu_ns.clear();
    rank.waiting_ns.clear();
  }

  EXPECT_EQ(find(compare_runs({base}, run, {}), "CPU time"), nullptr);
}

}  // namespace
}  // namespace profshim
