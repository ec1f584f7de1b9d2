#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "unit/analysis/compare/made_runs.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

using test::failures;
using test::noisy_run;

Comparison checked(const std::string& rules, const RunProfile& run) {
  const LoadedSpec loaded = load_spec_text("version = 1\n" + rules, "ci.toml");
  EXPECT_TRUE(loaded.ok());
  return check_rules(loaded.spec, "ci.toml", run, {});
}

TEST(Rules, CountsHaveAMostAndALeast) {
  std::mt19937 random(19);
  RunProfile run = noisy_run(random, 0.02);
  run.ranks[1].launches[3] = 5;
  const auto rule = [](const char* text) { return std::string("[[check.rule]]\n") + text; };

  EXPECT_FALSE(checked(rule("metric = \"launches_per_step\"\nmax = 5\n"), run).failed());
  EXPECT_TRUE(checked(rule("metric = \"launches_per_step\"\nmax = 4\n"), run).failed());
  EXPECT_TRUE(checked(rule("metric = \"launches_per_step\"\nmin = 2\n"), run).failed());
  EXPECT_TRUE(checked(rule("metric = \"kernels_per_step\"\nname = \"gemm*\"\nmax = 0\n"), run).failed());
  EXPECT_FALSE(checked(rule("metric = \"calls_per_step\"\nname = \"MPI_*\"\nmax = 1\nmin = 1\n"), run).failed());
  EXPECT_FALSE(checked(rule("metric = \"mpi_bytes_per_step\"\nmax = 8\n"), run).failed());
  EXPECT_TRUE(checked(rule("metric = \"step_us\"\nmax = 5000\n"), run).failed());
  EXPECT_FALSE(checked(rule("metric = \"kernel_us\"\nmax = 7000\n"), run).failed());
}

TEST(Rules, TimesAgainstABaselineHaveTheirOwnTolerance) {
  const test::TemporaryFolder folder;
  std::mt19937 random(20);
  std::ofstream(folder.path() + "/base.json") << baseline_text({noisy_run(random, 0.02)});
  const RunProfile run = noisy_run(random, 0.02, 1.2);
  const std::string rule =
      "[[check.rule]]\nmetric = \"kernel_us\"\nname = \"gemm*\"\nbaseline = \"" + folder.path() + "/base.json" + "\"\n";

  EXPECT_TRUE(checked(rule + "tolerance = 0.1\n", run).failed());
  EXPECT_FALSE(checked(rule + "tolerance = 0.3\n", run).failed());
}

TEST(Rules, SayWhichTracesAreMissing) {
  std::mt19937 random(21);
  RunProfile run = noisy_run(random, 0.02);
  run.files = 2;
  run.world_size = 4;

  const Comparison comparison = checked("[check]\nmin_traces = 8\nranks = \"all\"\ncomplete = true\n", run);

  ASSERT_EQ(failures(comparison).size(), 2u);
  EXPECT_EQ(failures(comparison)[0]->sentence, "2 traces, at least 8 required");
  EXPECT_EQ(failures(comparison)[1]->sentence, "no trace of ranks 2-3");
}

TEST(Rules, OfAPhaseCountOnlyWhatIsInside) {
  std::mt19937 random(22);
  RunProfile run = noisy_run(random, 0.02);
  for (ProfileRank& rank : run.ranks) {
    rank.launches.assign(rank.launches.size(), 7);
    test::phase(rank, "actor", 3'000'000).launches[2] = 2;
  }
  const auto rule = [](const char* text) { return std::string("[[check.rule]]\nphase = \"actor\"\n") + text; };

  EXPECT_FALSE(checked(rule("metric = \"launches_per_step\"\nmax = 2\n"), run).failed());
  EXPECT_TRUE(checked(rule("metric = \"launches_per_step\"\nmax = 1\n"), run).failed());
  EXPECT_FALSE(checked(rule("metric = \"kernels_per_step\"\nname = \"gemm*\"\nmin = 1\n"), run).failed());
  EXPECT_FALSE(checked(rule("metric = \"step_us\"\nmax = 3000\n"), run).failed());
  EXPECT_TRUE(checked(rule("metric = \"step_us\"\nmax = 2999\n"), run).failed());
  const Comparison other = checked("[[check.rule]]\nphase = \"rollout\"\nmetric = \"step_us\"\nmax = 1\n", run);
  EXPECT_FALSE(other.failed());
  EXPECT_EQ(other.changes.at(0).verdict, Change::Verdict::kNote);
  EXPECT_EQ(other.changes.at(0).sentence, "ci.toml:2: this run does not have the phase");
}

}  // namespace
}  // namespace profshim
