// Two runs against each other, made of numbers: what fails, what does not, and how often by chance.
#include "profshim/analysis/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "unit/temporary_folder.h"

namespace profshim {
namespace {

constexpr std::size_t kSteps = 20;

ProfileRow& row(ProfileRank& rank, RowKind kind, const std::string& name) {
  ProfileRow& made = rank.rows[{kind, name}];
  made.count.resize(rank.steps.size());
  made.time_ns.resize(rank.steps.size());
  return made;
}

/// Two ranks: steps of 10 ms and a kernel of 6 ms, both noisy with a long tail and both `slower` times as long; one
/// call in each step.
RunProfile noisy_run(std::mt19937& random, double sigma, double slower = 1, std::size_t steps = kSteps) {
  std::lognormal_distribution<double> noise(0, sigma);
  RunProfile run;
  run.path = "run";
  run.world_size = 2;
  run.has_steps = true;
  for (int r = 0; r < 2; ++r) {
    ProfileRank& rank = run.ranks.emplace_back();
    rank.rank = r;
    for (std::size_t i = 0; i < steps; ++i) {
      rank.steps.emplace_back(static_cast<std::int64_t>(10 + i), 0);
      rank.step_ns.push_back(static_cast<std::int64_t>(1e7 * slower * noise(random)));
      rank.communication_ns.push_back(static_cast<std::int64_t>(2e6 * noise(random)));
    }
    rank.launches.assign(steps, 1);
    rank.mpi_bytes.assign(steps, 8);
    ProfileRow& call = row(rank, RowKind::kCall, "MPI_Allreduce");
    ProfileRow& kernel = row(rank, RowKind::kKernel, "gemm<128, 64>");
    for (std::size_t i = 0; i < steps; ++i) {
      call.count[i] = kernel.count[i] = 1;
      call.time_ns[i] = static_cast<std::int64_t>(2e6 * noise(random));
      kernel.time_ns[i] = static_cast<std::int64_t>(6e6 * slower * noise(random));
    }
  }
  return run;
}

std::vector<const Change*> failures(const Comparison& comparison) {
  std::vector<const Change*> list;
  for (const Change& c : comparison.changes) {
    if (c.verdict == Change::Verdict::kRegression) list.push_back(&c);
  }
  return list;
}

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

// Steps of one run resemble each other: a neighbor on the machine slows half of a run.
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

// One of the runs of a baseline was as slow: that is how this program varies.
TEST(Compare, EachRunOfABaselineMustBeFaster) {
  std::mt19937 random(9);
  const RunProfile fast = noisy_run(random, 0.02), slow = noisy_run(random, 0.02, 1.3);
  const RunProfile run = noisy_run(random, 0.02, 1.3);

  EXPECT_TRUE(compare_runs({fast}, run, {}).failed());
  EXPECT_FALSE(compare_runs({fast, slow}, run, {}).failed());
}

// ---- what is not the program's

/// The steps of a job on CPUs alone, `cpus_used` of which each rank has.
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

// The same program has been seen to need 2.3 ms of CPU time in one run and 4.5 ms in the next, on an idle virtual
// machine.
TEST(Compare, OneRunDoesNotTellHowMuchCpuTimeVaries) {
  std::mt19937 random(31);
  const RunProfile base = cpu_run(random), slow = cpu_run(random, 1.9), slower = cpu_run(random, 2.5);

  const Comparison comparison = compare_runs({base}, slow, {});

  EXPECT_FALSE(comparison.failed());
  EXPECT_EQ(step_time(comparison).verdict, Change::Verdict::kCannotTell);
  EXPECT_NE(step_time(comparison).sentence.find("a baseline of three or more runs tells"), std::string::npos);
  EXPECT_TRUE(compare_runs({base}, slower, {}).failed());
  EXPECT_TRUE(compare_runs({base}, slow, {.cpu_noise = 0.5}).failed());
}

// A CPU that is slower is in use for longer; who sleeps or waits for a disk does not use it.
TEST(Compare, TimeWithoutCpuTimeIsTheProgramsOwn) {
  std::mt19937 random(32);
  const RunProfile base = cpu_run(random, 1, 1), slow = cpu_run(random, 1.5, 1 / 1.5);

  const Comparison comparison = compare_runs({base}, slow, {});

  EXPECT_TRUE(comparison.failed());
  EXPECT_EQ(step_time(comparison).verdict, Change::Verdict::kRegression);
}

// Nothing is known of the CPUs of a trace of others.
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
  EXPECT_EQ(step_time(compare_runs(unlike, run, {})).sentence, "cannot tell: the runs of the baseline differ as much");
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
      "1.40 s for a CPU in each second (before 0.02)");
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

  EXPECT_EQ(sentence(compare_runs({base}, allreduce_twice(slow), {})), "slower, as the step is");
  EXPECT_EQ(sentence(compare_runs({quiet}, allreduce_twice(waits), {})), "slower, but the step is not");
}

// The other way round nothing is gained either.
TEST(Compare, AMachineThatWasBusyBeforeMakesNothingFaster) {
  std::mt19937 random(37);
  RunProfile base = cpu_run(random, 5, 0.3), run = cpu_run(random);
  base.machine = {.cpus = 4, .own = 0.6, .others = 3.2, .waited = 1.4};
  run.machine = {.cpus = 4, .own = 2, .others = 0.1, .waited = 0.02};

  EXPECT_TRUE(compare_runs({base}, run, {}).changes.empty());
  base.machine.reset();
  EXPECT_EQ(step_time(compare_runs({base}, run, {})).verdict, Change::Verdict::kFaster);
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
  EXPECT_EQ(step.sentence, "cannot tell: it takes 5 steps in each run");
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

// One is gone and one is new: no likeness of names is taken for sameness.
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

  EXPECT_NE(why_not(base, larger).find("a job of 2 ranks, run of one of 4"), std::string::npos)
      << why_not(base, larger);
  EXPECT_NE(why_not(base, missing).find("ranks 0-1, run has rank 0"), std::string::npos) << why_not(base, missing);
  EXPECT_NE(why_not(base, other_steps).find("no step of rank 0 in common"), std::string::npos);
  EXPECT_NE(why_not(base, no_steps).find("has steps"), std::string::npos);
}

TEST(Compare, ABaselineComesBackAsItWas) {
  const test::TemporaryFolder folder;
  std::mt19937 random(17);
  std::vector<RunProfile> runs = {noisy_run(random, 0.02), noisy_run(random, 0.02)};
  runs[0].machine = {.cpus = 4, .own = 1.5, .others = 0.25, .waited = 0.125, .stolen = 0.5};
  runs[0].ranks[1].cpus_used = 0.75;
  const std::string path = folder.path() + "/base.json";
  std::ofstream(path) << baseline_text(runs);

  EXPECT_TRUE(is_baseline(path));
  const std::vector<RunProfile> read = read_baseline(path);

  EXPECT_EQ(baseline_text(read), baseline_text(runs));
  ASSERT_TRUE(read[0].machine.has_value());
  EXPECT_EQ(read[0].machine->waited, 0.125);
  EXPECT_EQ(read[0].machine->stolen, 0.5);
  EXPECT_FALSE(read[1].machine.has_value());
  EXPECT_EQ(read[0].ranks[1].cpus_used, 0.75);
  EXPECT_EQ(read[1].ranks[1].cpus_used, -1);
}

TEST(Compare, ADamagedBaselineIsNone) {
  const test::TemporaryFolder folder;
  std::mt19937 random(18);
  const std::string whole = baseline_text({noisy_run(random, 0.02)}), path = folder.path() + "/base.json";
  const auto refused = [&](std::string text) {
    std::ofstream(path) << text;
    try {
      read_baseline(path);
    } catch (const std::runtime_error& error) {
      return std::string(error.what()).starts_with(path + ": ");
    }
    return false;
  };
  std::string short_list = whole, other_version = whole;
  short_list.replace(short_list.find("\"launches\": [1,"), 15, "\"launches\": [");
  other_version.replace(other_version.find(": 1"), 3, ": 9");

  EXPECT_TRUE(refused(whole.substr(0, whole.size() / 2)));
  EXPECT_TRUE(refused("{\"profshim_baseline\": 1, \"runs\": []}"));
  EXPECT_TRUE(refused(short_list));
  EXPECT_TRUE(refused(other_version));
  EXPECT_TRUE(refused("{}"));
}

// ---- rules

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
  EXPECT_EQ(failures(comparison)[0]->sentence, "2 traces, at least 8 wanted");
  EXPECT_EQ(failures(comparison)[1]->sentence, "no trace of ranks 2-3");
}

}  // namespace
}  // namespace profshim
