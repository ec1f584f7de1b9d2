// One time of two runs: has it grown? The rule is in include/profshim/compare.h.
#pragma once

#include <functional>
#include <vector>

#include "profshim/compare.h"

namespace profshim::analysis_detail {

/// Positions of one step in each run.
struct StepPair {
  std::size_t base, run;
};
/// Throws with one line when the two have not the same ranks, or steps against none.
void check_comparable(const RunProfile& base, const RunProfile& run);
/// The steps that a rank has in both.
std::vector<StepPair> common_steps(const ProfileRank& base, const ProfileRank& run);

/// A time of a rank per step, in nanoseconds; nothing where the rank has no such row.
using Series = std::function<const std::vector<std::int64_t>*(const ProfileRank&)>;

struct TimeSamples {
  std::vector<double> base_us, run_us;  // of the steps that all ranks have in both, the slowest rank's
};
TimeSamples time_samples(const RunProfile& base, const RunProfile& run, const Series& series);

/// What all runs of a baseline together say; `p` and the smallest growth are those of the run that is nearest.
struct TimeTest {
  double base_us = 0, run_us = 0;  // medians
  double p = 1, least_p = 1;
  bool large = false;    // beyond tolerance and floor
  bool lasting = false;  // in every third
  std::size_t steps = 0;
};
TimeTest test_longer(const std::vector<TimeSamples>& runs, double tolerance, double floor_us);
/// The other way round.
TimeTest test_shorter(const std::vector<TimeSamples>& runs, double tolerance, double floor_us);

}  // namespace profshim::analysis_detail
