// Gloo's collectives have no sequence numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "e2e/consumers/readers.h"
#include "e2e/support/merged.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

std::vector<std::string> record(const ScratchFolder& scratch, Launch launch, const std::string& keys = "") {
  const Outcome outcome = run(without_compiler(torch_job(scratch, launch, "profiler/train_profiled.py", keys)));
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  return traces_below(scratch / "traces");
}

/// The traces of one job, for all tests.
std::vector<std::string> traces_of_four_ranks() {
  static const ScratchFolder scratch;
  static const std::vector<std::string> paths = record(scratch, Launch::kFourRanks);
  EXPECT_EQ(paths.size(), 4u);
  return paths;
}

std::vector<std::string> profiled(const ScratchFolder& scratch, int ranks) {
  Job job = without_compiler(torch_job(scratch, Launch::kFourRanks, "profiler/train_profiled.py " + scratch.path()));
  job.preload = false;
  const Outcome outcome = run(job);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  std::vector<std::string> paths;
  for (int rank = 0; rank < ranks; ++rank) paths.push_back(scratch / ("rank" + std::to_string(rank) + ".json"));
  return paths;
}

/// Merges traces with randomly shifted clocks. 99 % of the errors must be within the reported bounds.
void expect_brought_together(const ScratchFolder& scratch, const std::vector<std::string>& paths) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> offset(-1e6, 1e6), drift(-50, 50);
  constexpr int kTrials = 20;
  int within_bound = 0, placed_ranks = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::string> shown = {paths[0]};
    std::vector<Shift> shifts = {{}};
    for (std::size_t i = 1; i < paths.size(); ++i) {
      shown.push_back(scratch / ("shifted" + std::to_string(i) + ".pt.trace.json"));
      shifts.push_back(write_shifted(paths[i], shown.back(), offset(random), drift(random)));
    }

    const SeenTrace all = merged(scratch / "all.pt.trace.json", shown);

    for (std::size_t i = 1; i < paths.size(); ++i) {
      const Placed rank = placed(all, static_cast<int>(i), shifts[i]);
      EXPECT_EQ(rank.clock, "collectives");
      EXPECT_GT(rank.moments, 10);
      EXPECT_LT(rank.error_us, 100'000);  // a few hundred on an idle machine
      within_bound += std::fabs(rank.mistake_us) <= rank.error_us;
      ++placed_ranks;
    }
  }
  EXPECT_GE(within_bound, placed_ranks * 99 / 100);
}

RUNS_IN_ONE_PROCESS(TorchMerge);

TEST(TorchMerge, AlignsClocksByCollectivesWithoutNumbers) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  expect_brought_together(scratch, traces_of_four_ranks());
}

TEST(TorchMerge, AlignsClocksWithoutSteps) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;
  const auto paths = record(scratch, Launch::kTwoRanks, "steps.source=none");
  ASSERT_EQ(paths.size(), 2u);
  expect_brought_together(scratch, paths);
}

// PyTorch 1.13, built by Debian without Kineto, records neither rank nor time of day.
TEST(TorchMerge, AlignsClocksOfTorchsOwnTraces) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;
  expect_brought_together(scratch, profiled(scratch, 4));
}

TEST(TorchMerge, ArrowsLieInTheWorkOfGloo) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const SeenTrace all = merged(scratch / "all.pt.trace.json", traces_of_four_ranks());

  std::map<std::string, int> seen;
  for (const auto& [id, arrow] : arrows(all)) {
    ASSERT_TRUE(arrow.from != nullptr && arrow.to != nullptr) << id;
    const SeenEvent *const last = slice_at(all, *arrow.from), *const waited = slice_at(all, *arrow.to);
    ASSERT_TRUE(last != nullptr && waited != nullptr) << id;
    EXPECT_EQ(last->name, waited->name);
    EXPECT_NE(last->pid, waited->pid);
    EXPECT_GE(last->ts_ns, waited->ts_ns);
    EXPECT_LT(arrow.from->ts_ns, arrow.to->ts_ns);
    ++seen[last->name];
  }
  // Overlapping all-reduces of gradients may lack arrows.
  EXPECT_GE(seen["gloo:barrier"], 6);
  EXPECT_GE(seen["gloo:all_gather"], 6);
  EXPECT_GE(seen["gloo:all_reduce"], 6);
  EXPECT_EQ(seen.size(), 3u);
}

TEST(TorchMerge, RanksOfOneHostKeepOneClock) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const SeenTrace all = merged(scratch / "all.pt.trace.json", traces_of_four_ranks());

  for (int rank = 1; rank < 4; ++rank) {
    const Placed at = placed(all, rank, {});
    EXPECT_EQ(at.clock, "same host");
    EXPECT_GT(at.moments, 10);
    EXPECT_GT(at.error_us, 0);
  }
}

}  // namespace
}  // namespace profshim::e2e
