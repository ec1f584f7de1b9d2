#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "unit/analysis/compare/made_runs.h"

namespace profshim {
namespace {

using test::failures;
using test::noisy_run;

RunProfile run_with_actor(unsigned seed, std::int64_t actor_ns, double slower = 1) {
  std::mt19937 random(seed);
  RunProfile run = noisy_run(random, 0.02, slower);
  for (ProfileRank& rank : run.ranks) test::phase(rank, "actor", actor_ns);
  return run;
}

TEST(ComparePhases, CountsAreEqualInEachStep) {
  const RunProfile base = run_with_actor(1, 3'000'000);
  RunProfile run = run_with_actor(2, 3'000'000);
  run.ranks[0].phases.at("actor").occurrences.assign(test::kSteps, 2);
  run.ranks[1].phases.at("actor").launches[4] = 3;

  const Comparison comparison = compare_runs({base}, run, {});

  std::vector<std::string> failed;
  for (const Change* c : failures(comparison)) failed.push_back(c->kind + " " + c->name + ", rank " + c->ranks);
  EXPECT_EQ(failed, (std::vector<std::string>{"launches in phase actor, rank 1", "phase actor, rank 0"}));
}

TEST(ComparePhases, TimesAreTestedLikeThoseOfCalls) {
  const RunProfile base = run_with_actor(1, 3'000'000), slow = run_with_actor(2, 6'000'000, 2);

  const Comparison comparison = compare_runs({base}, slow, {.cpu_noise = 0});

  std::vector<std::string> failed;
  for (const Change* c : failures(comparison)) failed.push_back(c->kind + " " + c->name);
  EXPECT_NE(std::find(failed.begin(), failed.end(), "phase actor"), failed.end());
  EXPECT_NE(std::find(failed.begin(), failed.end(), "device time in phase actor"), failed.end());
  EXPECT_FALSE(compare_runs({base}, run_with_actor(3, 3'000'000), {}).failed());
}

TEST(ComparePhases, OfOneRunOnlyAreNotCompared) {
  std::mt19937 random(4);
  const RunProfile without = noisy_run(random, 0.02), with = run_with_actor(5, 3'000'000);

  const Comparison added = compare_runs({without}, with, {}), gone = compare_runs({with}, without, {});

  EXPECT_FALSE(added.failed());
  EXPECT_EQ(added.notes, std::vector<std::string>{"the phase actor is in the new run only: not compared"});
  EXPECT_FALSE(gone.failed());
  EXPECT_EQ(gone.notes, std::vector<std::string>{"the phase actor is in the earlier run only: not compared"});
}

TEST(ComparePhases, WindowsOfAPhaseAreComparedWithWindowsOfTheSamePhase) {
  RunProfile base = run_with_actor(1, 3'000'000), run = run_with_actor(2, 3'000'000);
  base.phase = "actor";
  EXPECT_THROW(compare_runs({base}, run, {}), std::runtime_error);

  run.phase = "actor";
  EXPECT_NO_THROW(compare_runs({base}, run, {}));
}

}  // namespace
}  // namespace profshim
