#include "time_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

#include "analysis/model/machine_load.h"
#include "analysis/model/statistics.h"
#include "profshim/analysis.h"
#include "statistics.h"

namespace profshim::analysis_detail {
namespace {

std::string ranks_of(const RunProfile& run) {
  std::vector<int> ranks;
  for (const ProfileRank& rank : run.ranks) ranks.push_back(rank.rank);
  return ranks_text(ranks);
}

std::string size_of(const RunProfile& run) {
  return run.world_size < 0 ? "an unknown number of" : std::to_string(run.world_size);
}

struct Pair {
  const std::vector<double>&shorter, &longer;
  const OtherCauses& other_causes;
  bool fastest_longer = true;
};

enum class Variation : std::uint8_t { kUnknown, kWithin, kBeyond };

/// Compares the new run's median with the variation of the baseline's runs, by Student's t. `sign`: 1 tests for
/// longer, -1 for shorter. The factor sqrt(1 + 1/n) predicts one new value.
Variation variation(const std::vector<TimeSamples>& runs, int sign, double alpha) {
  if (runs.size() < kRunsForVariation || !runs.back().uses_cpu) return Variation::kUnknown;
  std::vector<double> base;
  for (const TimeSamples& run : runs) base.push_back(median(run.base_us));
  const double n = static_cast<double>(base.size()), middle = mean(base);
  double squares = 0;
  for (const double value : base) squares += (value - middle) * (value - middle);
  const double spread = std::sqrt(squares / (n - 1) * (1 + 1 / n));
  const double changed = sign * (median(runs.back().run_us) - middle);
  const bool beyond = changed > 0 && (spread <= 0 || student_tail(changed / spread, base.size() - 1) <= alpha);
  return beyond ? Variation::kBeyond : Variation::kWithin;
}

TimeTest test_one(const Pair& pair, Variation variation, const CompareOptions& options) {
  TimeTest test;
  test.steps = std::min(pair.shorter.size(), pair.longer.size());
  const double from = median(pair.shorter), grown = median(pair.longer) - from;
  const double least = std::max(options.tolerance * from, options.floor_us);
  test.large = grown > least;
  test.lasting = in_every_third(pair.shorter, pair.longer) && pair.fastest_longer;
  test.p = longer_p(pair.shorter, pair.longer);
  test.least_p = least_p(pair.shorter.size(), pair.longer.size());
  const double slower_cpu =
      variation == Variation::kUnknown ? std::min(pair.other_causes.cpu_us, options.cpu_noise * from) : 0;
  // busier_us is a mean over whole windows: only means are comparable.
  const double from_mean = mean(pair.shorter), grown_mean = mean(pair.longer) - from_mean;
  const double left = grown_mean - pair.other_causes.busier_us;
  const double least_mean = std::max(options.tolerance * from_mean, options.floor_us);
  const bool busier = pair.other_causes.busier_us > least;
  if (busier && left <= least_mean) {
    test.cause = Cause::kMachine;
  } else if (variation == Variation::kWithin || grown - slower_cpu <= least) {
    test.cause = Cause::kRuns;
  } else if (busier && left - slower_cpu <= least_mean) {
    test.cause = Cause::kMachine;
  }
  return test;
}

TimeTest test_all(const std::vector<Pair>& pairs, Variation variation, const CompareOptions& options) {
  TimeTest nearest{.p = 0, .least_p = 0, .large = true, .lasting = true, .steps = ~std::size_t{0}};
  double distance = -1;
  for (const Pair& pair : pairs) {
    const TimeTest one = test_one(pair, variation, options);
    nearest.p = std::max(nearest.p, one.p);
    nearest.least_p = std::max(nearest.least_p, one.least_p);
    nearest.large = nearest.large && one.large;
    nearest.lasting = nearest.lasting && one.lasting;
    nearest.steps = std::min(nearest.steps, one.steps);
    if (nearest.cause != Cause::kMachine && one.cause != Cause::kProgram) nearest.cause = one.cause;
    const double from = median(pair.shorter), to = median(pair.longer);
    if (distance < 0 || std::abs(to - from) < distance) {
      distance = std::abs(to - from);
      nearest.base_us = from;
      nearest.run_us = to;
    }
  }
  return nearest;
}

/// The CPU time of the whole process in a median step. It is measured over windows: too coarse for short ones.
std::optional<double> process_cpu_us(const ProfileRank& rank) {
  if (rank.cpus_used < 0) return std::nullopt;
  std::vector<double> steps;
  for (const std::int64_t ns : rank.step_ns) steps.push_back(to_us(ns));
  return rank.cpus_used * median(std::move(steps));
}

/// The CPU time of the thread that runs the steps, in a median step.
std::optional<double> thread_cpu_us(const ProfileRank& rank) {
  std::vector<double> steps;
  for (const std::int64_t ns : rank.cpu_ns) {
    if (ns >= 0) steps.push_back(to_us(ns));
  }
  return steps.empty() ? std::nullopt : std::optional(median(std::move(steps)));
}

/// Returns the larger growth of the two, negative if both became less.
std::optional<double> cpu_growth_us(const ProfileRank& base, const ProfileRank& run) {
  std::optional<double> most;
  for (const auto of : {process_cpu_us, thread_cpu_us}) {
    const std::optional<double> before = of(base), after = of(run);
    if (before && after) most = std::max(most.value_or(*after - *before), *after - *before);
  }
  return most;
}

}  // namespace

void check_comparable(const RunProfile& base, const RunProfile& run) {
  if (base.world_size != run.world_size) {
    throw std::runtime_error("the two runs cannot be compared: " + base.path + " is of a job of " + size_of(base) +
                             " ranks, " + run.path + " of a job of " + size_of(run) + " ranks");
  }
  if (ranks_of(base) != ranks_of(run)) {
    throw std::runtime_error("the two runs cannot be compared: " + base.path + " has " + ranks_of(base) + ", " +
                             run.path + " has " + ranks_of(run));
  }
  if (base.phase != run.phase) {
    const auto windows = [](const RunProfile& of) {
      return of.path + " has windows of " + (of.phase.empty() ? "steps" : "the phase " + of.phase);
    };
    throw std::runtime_error("the two runs cannot be compared: " + windows(base) + ", " + windows(run));
  }
  if (base.has_steps != run.has_steps) {
    throw std::runtime_error("the two runs cannot be compared: " + (base.has_steps ? base : run).path + " has steps, " +
                             (base.has_steps ? run : base).path + " has none");
  }
}

std::vector<StepPair> common_steps(const ProfileRank& base, const ProfileRank& run) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> at;
  for (std::size_t i = 0; i < base.steps.size(); ++i) at.emplace(base.steps[i], i);
  std::vector<StepPair> pairs;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (const auto found = at.find(run.steps[i]); found != at.end()) pairs.push_back({found->second, i});
  }
  return pairs;
}

TimeSamples time_samples(const RunProfile& base, const RunProfile& run, const Series& series) {
  struct Slowest {
    double base_us = 0, run_us = 0;
    std::size_t ranks = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Slowest> steps;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const auto *const of_base = series(base.ranks[r]), *const of_run = series(run.ranks[r]);
    const auto us = [](const std::vector<std::int64_t>* list, std::size_t i) {
      return list != nullptr ? static_cast<double>((*list)[i]) / 1000 : 0.0;
    };
    for (const StepPair& pair : common_steps(base.ranks[r], run.ranks[r])) {
      Slowest& slowest = steps[run.ranks[r].steps[pair.run]];
      slowest.base_us = std::max(slowest.base_us, us(of_base, pair.base));
      slowest.run_us = std::max(slowest.run_us, us(of_run, pair.run));
      ++slowest.ranks;
    }
  }
  TimeSamples samples;
  for (const auto& [step, slowest] : steps) {
    if (slowest.ranks < run.ranks.size()) continue;
    samples.base_us.push_back(slowest.base_us);
    samples.run_us.push_back(slowest.run_us);
  }
  return samples;
}

void note_other_causes(TimeSamples& samples, const RunProfile& base, const RunProfile& run) {
  const TimeSamples step = time_samples(base, run, [](const ProfileRank& rank) { return &rank.step_ns; });
  const double base_us = mean(step.base_us), run_us = mean(step.run_us);
  samples.uses_cpu = true;
  samples.longer = {explained_us(base.machine, run.machine, base_us, run_us), 0};
  samples.shorter = {explained_us(run.machine, base.machine, run_us, base_us), 0};
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    static constexpr double kUnknown = std::numeric_limits<double>::infinity();
    const auto growth = [](const ProfileRank& from, const ProfileRank& to) {
      return cpu_growth_us(from, to).value_or(kUnknown);
    };
    samples.longer.cpu_us = std::max(samples.longer.cpu_us, growth(base.ranks[r], run.ranks[r]));
    samples.shorter.cpu_us = std::max(samples.shorter.cpu_us, growth(run.ranks[r], base.ranks[r]));
  }
}

TimeTest test_longer(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha) {
  std::vector<Pair> pairs;
  for (const TimeSamples& run : runs) pairs.push_back({run.base_us, run.run_us, run.longer, run.fastest_longer});
  return test_all(pairs, variation(runs, 1, alpha), options);
}
TimeTest test_shorter(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha) {
  std::vector<Pair> pairs;
  for (const TimeSamples& run : runs) pairs.push_back({run.run_us, run.base_us, run.shorter});
  return test_all(pairs, variation(runs, -1, alpha), options);
}

}  // namespace profshim::analysis_detail
