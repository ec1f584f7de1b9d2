// include/profshim/analysis/compare.h explains the tests.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "profshim/analysis/compare.h"

namespace profshim::analysis_detail {

struct StepPair {
  std::size_t base, run;  // indices into ProfileRank::steps
};
/// Throws std::runtime_error if world size or ranks differ, or only one run has steps.
void check_comparable(const RunProfile& base, const RunProfile& run);
std::vector<StepPair> common_steps(const ProfileRank& base, const ProfileRank& run);

/// Returns one kind of time of a rank, in nanoseconds per step; nullptr if the rank has none.
using Series = std::function<const std::vector<std::int64_t>*(const ProfileRank&)>;

struct OtherCauses {
  double busier_us = 0;  // growth of the mean step explained by other processes
  double cpu_us = 0;     // largest growth of a rank's median CPU time per step; infinity = unknown
};

struct TimeSamples {
  std::vector<double> base_us, run_us;  // slowest rank's times in steps that all ranks have in both runs
  bool uses_cpu = false;                // rules 4 and 5 of compare.h apply
  bool fastest_longer = true;           // of the CPU time: see rule 3 of compare.h
  OtherCauses longer = {}, shorter = {};
};
TimeSamples time_samples(const RunProfile& base, const RunProfile& run, const Series& series);
/// Sets `uses_cpu`, `longer` and `shorter`. Call this only for times that depend on CPUs.
void note_other_causes(TimeSamples& samples, const RunProfile& base, const RunProfile& run);

inline constexpr std::size_t kRunsForVariation = 3;

enum class Cause : std::uint8_t {
  kProgram,
  kMachine,  // the machine was busier
  kRuns,     // may be chance: runs differ by as much
};

/// For all baseline runs: the largest p and least_p, and the medians of the baseline run nearest to the new run.
struct TimeTest {
  double base_us = 0, run_us = 0;
  double p = 1, least_p = 1;
  bool large = false;  // the growth exceeds CompareOptions::tolerance and floor_us
  bool lasting = false;
  Cause cause = Cause::kProgram;
  std::size_t steps = 0;
};
/// `alpha`: significance level of rule 5.
TimeTest test_longer(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha);
TimeTest test_shorter(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha);

// Did a step's own work grow? CPU time and instructions tell it on a busy machine, where the time of a step does not.
//
// The CPU time of a step is that of the thread that runs the steps, outside of calls that communicate or are CUDA's:
// inside them, the thread may poll, for as long as others let it wait. It is known to within bounds, because a wait may
// use the CPU or not. Steps of BASE count with the upper bound, those of NEW with
// the lower one if it is near the upper one.

/// `rank`: index in RunProfile::ranks. Returns nothing if the rank does not know its CPU time, if other threads of its
/// process work, too (the thread may poll for them), or if instructions are known and have not grown. `measured`: the
/// baseline shows how much runs differ.
std::optional<TimeSamples> cpu_samples(const RunProfile& base, const RunProfile& run, std::size_t rank,
                                       const CompareOptions& options, bool measured);

}  // namespace profshim::analysis_detail
