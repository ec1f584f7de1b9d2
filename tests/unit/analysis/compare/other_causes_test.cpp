#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "unit/analysis/compare/made_runs.h"

namespace profshim {
namespace {

using test::noisy_run;

RunProfile cpu_run(std::mt19937& random, double slower = 1, double cpus_used = 1) {
  RunProfile run = noisy_run(random, 0.02, slower);
  for (ProfileRank& rank : run.ranks) {
    rank.rows.erase({RowKind::kKernel, "gemm<128, 64>"});
    rank.cpus_used = cpus_used;
  }
  return run;
}

const Change& step_time(const Comparison& comparison) {
  for (const Change& c : comparison.changes) {
    if (c.name == "step time") return c;
  }
  throw std::runtime_error("the step time is not in the table");
}

// Measured on an idle virtual machine: a program needed 2.3 ms of CPU time in one run and 4.5 ms in the next.
TEST(Compare, OneRunDoesNotTellHowMuchCpuTimeVaries) {
  std::mt19937 random(31);
  const RunProfile base = cpu_run(random), slow = cpu_run(random, 1.9), slower = cpu_run(random, 2.5);

  const Comparison comparison = compare_runs({base}, slow, {});

  EXPECT_FALSE(comparison.failed());
  EXPECT_EQ(step_time(comparison).verdict, Change::Verdict::kCannotTell);
  EXPECT_NE(step_time(comparison).sentence.find("a baseline of three or more runs"), std::string::npos);
  EXPECT_TRUE(compare_runs({base}, slower, {}).failed());
  EXPECT_TRUE(compare_runs({base}, slow, {.cpu_noise = 0.5}).failed());
}

// A slower CPU raises the CPU time. A sleep in the program does not.
TEST(Compare, TimeWithoutCpuTimeIsTheProgramsOwn) {
  std::mt19937 random(32);
  const RunProfile base = cpu_run(random, 1, 1), slow = cpu_run(random, 1.5, 1 / 1.5);

  const Comparison comparison = compare_runs({base}, slow, {});

  EXPECT_TRUE(comparison.failed());
  EXPECT_EQ(step_time(comparison).verdict, Change::Verdict::kRegression);
}

TEST(Compare, WithoutCpuTimesTheyAreTakenToVary) {
  std::mt19937 random(33);
  const RunProfile base = cpu_run(random, 1, -1), slow = cpu_run(random, 1.9, -1), slower = cpu_run(random, 2.5, -1);

  EXPECT_FALSE(compare_runs({base}, slow, {}).failed());
  EXPECT_TRUE(compare_runs({base}, slower, {}).failed());
}

TEST(Compare, TheRunsOfABaselineTellHowMuchTheyVary) {
  std::mt19937 random(34);
  std::vector<RunProfile> alike, unlike;
  for (const double slower : {1.0, 1.01, 0.99, 1.0}) alike.push_back(cpu_run(random, slower));
  for (const double slower : {1.0, 1.3, 0.9, 1.2}) unlike.push_back(cpu_run(random, slower));
  const RunProfile run = cpu_run(random, 1.5);

  EXPECT_TRUE(compare_runs(alike, run, {}).failed());
  EXPECT_FALSE(compare_runs(unlike, run, {}).failed());
  EXPECT_EQ(step_time(compare_runs(unlike, run, {})).sentence,
            "cannot tell: the runs of the baseline differ by this much");
}

TEST(Compare, RunsThatWaitMayVaryWithoutCpuTime) {
  std::mt19937 random(39);
  const auto waits = [&random](double slower) { return cpu_run(random, slower, 1 / slower); };
  std::vector<RunProfile> unlike;
  for (const double slower : {1.0, 1.3, 0.9, 1.2}) unlike.push_back(waits(slower));

  const Comparison within = compare_runs(unlike, waits(1.5), {}), beyond = compare_runs(unlike, waits(6), {});

  EXPECT_FALSE(within.failed());
  EXPECT_EQ(step_time(within).sentence, "cannot tell: the runs of the baseline differ by this much");
  EXPECT_TRUE(beyond.failed());
}

TEST(Compare, ACallThatVariesInTheBaselineIsNoRegression) {
  std::mt19937 random(40);
  const auto with_call = [&random](double steps, double call) {
    RunProfile run = cpu_run(random, steps);
    for (ProfileRank& rank : run.ranks) {
      for (std::int64_t& ns : rank.rows[{RowKind::kCall, "MPI_Allreduce"}].time_ns) {
        ns = static_cast<std::int64_t>(static_cast<double>(ns) * call);
      }
    }
    return run;
  };
  std::vector<RunProfile> base;
  for (const double call : {1.0, 1.3, 0.9, 1.2}) base.push_back(with_call(1, call));

  const Comparison comparison = compare_runs(base, with_call(3, 0.5), {});

  EXPECT_EQ(step_time(comparison).verdict, Change::Verdict::kRegression);
  for (const Change& change : comparison.changes) {
    if (change.name == "MPI_Allreduce") {
      EXPECT_EQ(change.verdict, Change::Verdict::kNote);
      EXPECT_EQ(change.sentence, "slower, but the runs of the baseline differ by this much");
    }
  }
}

TEST(Compare, AnUnluckyNextRunOfANoisyProgramFailsNobody) {
  std::mt19937 random(35);
  std::normal_distribution<double> between(1, 0.15);
  int failed = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<RunProfile> base;
    for (int k = 0; k < 4; ++k) base.push_back(cpu_run(random, std::max(between(random), 0.5)));
    failed += compare_runs(base, cpu_run(random, std::max(between(random), 0.5)), {}).failed();
  }
  EXPECT_LE(failed, 3);
}

TEST(Compare, ABusierMachineFailsNobody) {
  std::mt19937 random(36);
  RunProfile base = cpu_run(random), run = cpu_run(random, 5, 0.3);
  base.machine = {.cpus = 4, .own = 2, .others = 0.1, .waited = 0.02};
  run.machine = {.cpus = 4, .own = 0.6, .others = 3.2, .waited = 1.4};

  const Comparison busier = compare_runs({base}, run, {});
  run.machine->waited = 0.03;
  const Comparison idle = compare_runs({base}, run, {});

  EXPECT_FALSE(busier.failed());
  EXPECT_EQ(
      step_time(busier).sentence,
      "cannot tell: the machine was busier: other processes used 3.2 of 4 CPUs (before 0.1), threads of the job waited "
      "for a CPU, together 1.40 s per second (before 0.02)");
  EXPECT_TRUE(idle.failed());
}

TEST(Compare, RowsOfAStepThatCannotBeToldAreNoNotes) {
  std::mt19937 random(38);
  const RunProfile base = cpu_run(random), slow = cpu_run(random, 1.5);
  RunProfile waits = cpu_run(random);
  waits.machine = {.cpus = 4, .own = 1, .others = 2, .waited = 0.5};
  RunProfile quiet = base;
  quiet.machine = {.cpus = 4, .own = 1, .others = 0, .waited = 0};
  const auto allreduce_twice = [](RunProfile run) {
    for (ProfileRank& rank : run.ranks) {
      for (std::int64_t& ns : rank.rows[{RowKind::kCall, "MPI_Allreduce"}].time_ns) ns *= 2;
    }
    return run;
  };
  const auto sentence = [](const Comparison& comparison) {
    for (const Change& c : comparison.changes) {
      if (c.name == "MPI_Allreduce") return c.sentence;
    }
    return std::string();
  };

  EXPECT_EQ(sentence(compare_runs({base}, allreduce_twice(slow), {})),
            "cannot tell: slower, and the step may be slower too");
  EXPECT_EQ(sentence(compare_runs({quiet}, allreduce_twice(waits), {})), "slower, but the step is not");
}

TEST(Compare, AMachineThatWasBusyBeforeMakesNothingFaster) {
  std::mt19937 random(37);
  RunProfile base = cpu_run(random, 5, 0.3), run = cpu_run(random);
  base.machine = {.cpus = 4, .own = 0.6, .others = 3.2, .waited = 1.4};
  run.machine = {.cpus = 4, .own = 2, .others = 0.1, .waited = 0.02};

  EXPECT_TRUE(compare_runs({base}, run, {}).changes.empty());
  base.machine.reset();
  EXPECT_EQ(step_time(compare_runs({base}, run, {})).verdict, Change::Verdict::kFaster);
}

}  // namespace
}  // namespace profshim
