#include <algorithm>
#include <limits>

#include "analysis/model/machine_load.h"
#include "analysis/model/statistics.h"
#include "statistics.h"
#include "time_tests.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::size_t kFewest = 3;         // steps
constexpr double kWidest = 0.2;            // bounds of a step's CPU time, as a share of the upper one
constexpr double kOtherThreads = 0.25;     // their CPU time, as a share of that of the thread that runs the steps
constexpr double kOtherThreadsCpu = 0.05;  // CPUs that profshim's own threads may use
constexpr double kShortWindow_ns = 2e8;
constexpr double kBusierCpus = 0.1;
constexpr double kLittleWaiting = 0.05;  // of the CPU time

struct RankPair {
  const ProfileRank &base, &run;
  std::vector<StepPair> steps;  // in both runs
};

bool waits_for_other_threads(const ProfileRank& rank) {
  double cpu_ns = 0, steps_ns = 0;
  for (std::size_t i = 0; i < rank.cpu_ns.size(); ++i) {
    if (rank.cpu_ns[i] < 0) continue;
    cpu_ns += static_cast<double>(rank.cpu_ns[i]);
    steps_ns += static_cast<double>(rank.step_ns[i]);
  }
  // `cpus_used` was measured some 10 ms before and after a window, or not at all. A short window has undisturbed steps.
  if (rank.cpus_used < 0 || steps_ns < kShortWindow_ns) return false;
  const double own = cpu_ns / steps_ns;
  return rank.cpus_used - own > kOtherThreads * own + kOtherThreadsCpu;
}

bool knows_work(const ProfileRank& rank) { return !rank.cpu_ns.empty() && !waits_for_other_threads(rank); }

/// Returns a value of a step, negative if unknown.
using OfStep = double (*)(const ProfileRank& rank, std::size_t step);

double most_cpu_us(const ProfileRank& rank, std::size_t i) {
  if (rank.cpu_ns[i] < 0) return -1;
  return std::min(to_us(rank.cpu_ns[i]), std::max(to_us(rank.step_ns[i] - rank.waiting_ns[i]), 0.0));
}
/// Negative for steps whose bounds are far apart.
double least_cpu_us(const ProfileRank& rank, std::size_t i) {
  const double most = most_cpu_us(rank, i), least = std::max(to_us(rank.cpu_ns[i] - rank.waiting_ns[i]), 0.0);
  return most >= 0 && most - least <= kWidest * most ? least : -1;
}
double step_us(const ProfileRank& rank, std::size_t i) { return to_us(rank.step_ns[i]); }
double instructions(const ProfileRank& rank, std::size_t i) {
  return rank.instructions.empty() ? -1 : static_cast<double>(rank.instructions[i]);
}

TimeSamples samples_of(const RankPair& rank, OfStep of_base, OfStep of_run) {
  TimeSamples samples;
  for (const StepPair& step : rank.steps) {
    const double before = of_base(rank.base, step.base), after = of_run(rank.run, step.run);
    if (before >= 0) samples.base_us.push_back(before);
    if (after >= 0) samples.run_us.push_back(after);
  }
  return samples;
}

bool has_too_few(const TimeSamples& samples) {
  return samples.base_us.size() < kFewest || samples.run_us.size() < kFewest;
}

bool hardly_waits(const ProfileRank& rank) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < rank.cpu_ns.size(); ++i) {
    if (rank.cpu_ns[i] > 0)
      shares.push_back(static_cast<double>(rank.waiting_ns[i]) / static_cast<double>(rank.cpu_ns[i]));
  }
  return !shares.empty() && median(std::move(shares)) <= kLittleWaiting;
}

enum class Growth : std::uint8_t { kUnknown, kNone, kGrown };

/// Polling executes instructions, too.
Growth growth_of_instructions(const RankPair& rank, const CompareOptions& options) {
  if (!hardly_waits(rank.base) || !hardly_waits(rank.run)) return Growth::kUnknown;
  const TimeSamples samples = samples_of(rank, instructions, instructions);
  if (has_too_few(samples)) return Growth::kUnknown;
  if (median(samples.run_us) <= median(samples.base_us) * (1 + options.tolerance)) return Growth::kNone;
  const bool is_certain =
      in_every_third(samples.base_us, samples.run_us) && longer_p(samples.base_us, samples.run_us) <= options.alpha / 2;
  return is_certain ? Growth::kGrown : Growth::kUnknown;
}

bool is_busier(const RunProfile& base, const RunProfile& run) {
  return !base.machine || !run.machine || run.machine->others - base.machine->others > kBusierCpus;
}

double fastest_tenth(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.resize((values.size() + 9) / 10);
  return median(std::move(values));
}

}  // namespace

std::optional<TimeSamples> cpu_samples(const RunProfile& base, const RunProfile& run, std::size_t rank,
                                       const CompareOptions& options, bool measured) {
  const RankPair both{base.ranks[rank], run.ranks[rank], common_steps(base.ranks[rank], run.ranks[rank])};
  if (!knows_work(both.base) || !knows_work(both.run)) return std::nullopt;
  TimeSamples samples = samples_of(both, most_cpu_us, least_cpu_us);
  const Growth growth = growth_of_instructions(both, options);
  if (has_too_few(samples) || growth == Growth::kNone) return std::nullopt;

  const double noise = growth == Growth::kGrown ? 0 : options.cpu_noise;
  const bool differs = !measured || is_busier(base, run);
  const TimeSamples steps = samples_of(both, step_us, step_us);
  const double fastest_us = fastest_tenth(steps.base_us);
  samples.uses_cpu = true;
  samples.longer.cpu_us = noise > 0 ? std::numeric_limits<double>::infinity() : 0;
  samples.longer.busier_us = stolen_us(base.machine, run.machine, mean(steps.base_us), mean(steps.run_us)) +
                             (measured && differs ? noise * mean(samples.base_us) : 0);
  // Other processes do not disturb each short step.
  const double least_us = std::max(options.tolerance * fastest_us, options.floor_us);
  samples.fastest_longer = fastest_tenth(steps.run_us) - fastest_us > least_us + (differs ? noise : 0) * fastest_us;
  return samples;
}

}  // namespace profshim::analysis_detail
