// Tests whether one time has grown between two runs, by the rule in include/profshim/analysis/compare.h.
#pragma once

#include <functional>
#include <vector>

#include "profshim/analysis/compare.h"

namespace profshim::analysis_detail {

/// Positions of one step in each run.
struct StepPair {
  std::size_t base, run;
};
/// Throws std::runtime_error with one line if the runs have different ranks, or only one has steps.
void check_comparable(const RunProfile& base, const RunProfile& run);
/// Returns the steps that a rank has in both runs.
std::vector<StepPair> common_steps(const ProfileRank& base, const ProfileRank& run);

/// Returns a time of a rank for each step, in nanoseconds; nullptr if the rank lacks the row.
using Series = std::function<const std::vector<std::int64_t>*(const ProfileRank&)>;

/// The part of the growth that the program need not have caused; 0 if there is none.
struct OtherCauses {
  double busier_us = 0;  // of the mean step, because others used the machine more (machine_load.h)
  double cpu_us = 0;     // growth of the CPU time of the median step, of the rank with the largest growth
};

struct TimeSamples {
  std::vector<double> base_us, run_us;  // the slowest rank, for the steps that all ranks have in both runs
  OtherCauses longer = {}, shorter = {};
};
TimeSamples time_samples(const RunProfile& base, const RunProfile& run, const Series& series);
/// Fills in `longer` and `shorter`, for times that depend on CPUs.
void note_other_causes(TimeSamples& samples, const RunProfile& base, const RunProfile& run);

/// The number of stored runs from which their variation can be estimated.
inline constexpr std::size_t kRunsForVariation = 3;

/// The cause of a difference.
enum class Cause : std::uint8_t {
  kProgram,
  kMachine,  // possibly: others used the machine more
  kRuns,     // possibly: runs of one program differ as much
};

/// The result for all runs of a baseline: the least significant p, and the medians of the run nearest to NEW.
struct TimeTest {
  double base_us = 0, run_us = 0;  // medians
  double p = 1, least_p = 1;
  bool large = false;    // beyond tolerance and floor
  bool lasting = false;  // in every third
  Cause cause = Cause::kProgram;
  std::size_t steps = 0;
};
/// Tests whether NEW is longer than every run. `alpha`: level of the test against the variation of the baseline.
TimeTest test_longer(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha);
/// Tests whether NEW is shorter than every run.
TimeTest test_shorter(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha);

}  // namespace profshim::analysis_detail
