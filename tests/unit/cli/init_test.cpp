#include <gtest/gtest.h>

#include <algorithm>

#include "cli/init/first_spec.h"
#include "profshim/spec.h"

namespace profshim::cli {
namespace {

SeenJob solver() {
  SeenJob job;
  job.command = "mpirun -n 8 ./solver";
  job.launcher = "mpirun";
  job.frameworks = {"Open MPI"};
  job.world_size = 8;
  job.has_trace = true;
  job.to_its_end = false;
  job.loop = SeenLoop{.marker = {"collective", "MPI_Allreduce", false, 2},
                      .begins_at = "MPI_Allreduce",
                      .period_ns = 50e6,
                      .steps = 200,
                      .most_steps = 200,
                      .bytes_per_step = 5e4,
                      .confidence = loop::Confidence::kHigh,
                      .ranks = {}};
  return job;
}

Spec loaded(const SeenJob& job) {
  const std::string text = first_spec(job);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 25) << text;
  const LoadedSpec out = load_spec_text(text, "spec");
  for (const Problem& problem : out.problems) ADD_FAILURE() << to_line(problem) << "\n" << text;
  return out.spec;
}

TEST(FirstSpec, HasTheMarkerAndAWindowOfWholeSteps) {
  const Spec spec = loaded(solver());

  EXPECT_EQ(spec.steps.source, StepSource::kCollective);
  EXPECT_EQ(spec.steps.pattern, "MPI_Allreduce");
  EXPECT_EQ(spec.steps.every, 2);
  EXPECT_EQ(spec.ranks.select.text(), "0, last");
  EXPECT_EQ(spec.schedule.skip_first, 10);
  EXPECT_EQ(spec.schedule.active, 5);
}

TEST(FirstSpec, CommentsSayWhatWasSeen) {
  const std::string text = first_spec(solver());

  EXPECT_NE(text.find("from: mpirun -n 8 ./solver\n# Seen: launcher mpirun, Open MPI; 8 ranks\n"), std::string::npos);
  EXPECT_NE(
      text.find("# Steps: 2 calls of MPI_Allreduce; 200 steps seen, 50 ms each (20 per second); confidence: high"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("# 250 ms, about 244.1 KiB of trace for each rank"), std::string::npos) << text;
}

TEST(FirstSpec, TheWholeScheduleLiesInTheStepsThatWereSeen) {
  for (std::size_t steps = 1; steps < 60; ++steps) {
    SeenJob job = solver();
    job.loop->steps = steps;
    const LoadedSpec out = load_spec_text(first_spec(job), "spec");
    ASSERT_TRUE(out.ok()) << first_spec(job);
    const Schedule& schedule = out.spec.schedule;
    EXPECT_LE(schedule.skip_first + schedule.warmup + schedule.active, static_cast<std::int64_t>(steps));
  }
}

TEST(FirstSpec, LargeStepsMakeASmallWindowAndAHigherLimit) {
  SeenJob large = solver(), huge = solver();
  large.loop->period_ns = huge.loop->period_ns = 1e9;
  large.loop->bytes_per_step = 100e6;
  huge.loop->bytes_per_step = 900e6;

  EXPECT_EQ(loaded(large).schedule.active, 2);
  EXPECT_EQ(loaded(huge).schedule.active, 1);
  EXPECT_EQ(loaded(large).limits.trace_size, std::uint64_t{1} << 30);
  EXPECT_EQ(loaded(huge).limits.trace_size, std::uint64_t{2} << 30);
}

TEST(FirstSpec, SelectsTheRanksThatHaveTheSteps) {
  SeenJob few = solver(), some = solver();
  few.world_size = 2;
  some.loop->ranks = {1, 2, 3};

  EXPECT_EQ(loaded(few).ranks.select.text(), "all");
  EXPECT_EQ(loaded(some).ranks.select.text(), "1-3");
}

TEST(FirstSpec, EverythingAtOnceStaysWithinTwentyFiveLines) {
  SeenJob job = solver();
  job.groups = 3;
  job.loop->confidence = loop::Confidence::kLow;
  job.loop->marker = {"torch", "Optimizer.step#\"a\\b\"", true, 4};
  job.loop->period_ns = 1e9;
  job.loop->bytes_per_step = 900e6;
  job.loop->most_steps = 1000;
  job.command = std::string(300, 'x') + "\nversion = 2\n";

  EXPECT_EQ(loaded(job).steps.source, StepSource::kAuto);

  job.groups = 1;
  const Spec spec = loaded(job);
  EXPECT_EQ(spec.steps.pattern, "Optimizer.step#\"a\\b\"");
  EXPECT_TRUE(spec.steps.edge_end);
}

TEST(FirstSpec, SaysThatAMasterCountsTheMarkersOfAllWorkers) {
  SeenJob job = solver();
  job.loop->steps = 30;
  job.loop->most_steps = 90;

  const std::string text = first_spec(job);

  EXPECT_NE(text.find("; 30 to 90 steps of a rank seen, 50 ms each"), std::string::npos) << text;
}

TEST(FirstSpec, WithoutStepsTheSpecSaysSo) {
  SeenJob ended = solver(), goes_on = solver(), unmarked = solver(), nothing;
  ended.loop = goes_on.loop = {};
  ended.to_its_end = true;
  unmarked.loop->marker = {};

  EXPECT_EQ(loaded(ended).steps.source, StepSource::kNone);
  EXPECT_EQ(loaded(goes_on).steps.source, StepSource::kTime);
  EXPECT_EQ(loaded(unmarked).steps.source, StepSource::kTime);
  EXPECT_EQ(loaded(nothing).steps.source, StepSource::kNone);
  EXPECT_NE(first_spec(goes_on).find("# No steps: "), std::string::npos);
  EXPECT_NE(first_spec(unmarked).find("which no steps.source can mark"), std::string::npos);
  EXPECT_NE(first_spec(nothing).find("# Nothing was recorded"), std::string::npos);
}

TEST(LauncherOf, FindsItInTheCommand) {
  EXPECT_EQ(launcher_of({"/usr/bin/mpirun.openmpi", "-n", "2", "./heat"}), "mpirun");
  EXPECT_EQ(launcher_of({"python3", "-m", "torch.distributed.run", "train.py"}), "torchrun");
  EXPECT_EQ(launcher_of({"./heat", "40"}), "");
}

}  // namespace
}  // namespace profshim::cli
