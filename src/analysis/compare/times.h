// One time of two runs: has it grown? The rule is in include/profshim/analysis/compare.h.
#pragma once

#include <functional>
#include <vector>

#include "profshim/analysis/compare.h"

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

/// By how much the steps of a run may be longer than those of another although the program is the same. Zeros where
/// that cannot be.
struct NotTheProgram {
  double busier_us = 0;  // in the mean: others used the machine more (machine_load.h)
  double cpu_us = 0;     // of the median step: so much more CPU time was used, by the rank that used the most
};

struct TimeSamples {
  std::vector<double> base_us, run_us;  // of the steps that all ranks have in both, the slowest rank's
  NotTheProgram longer = {}, shorter = {};
};
TimeSamples time_samples(const RunProfile& base, const RunProfile& run, const Series& series);
/// For times that CPUs have a part in.
void note_the_machine(TimeSamples& samples, const RunProfile& base, const RunProfile& run);

/// So many stored runs tell how runs differ.
inline constexpr std::size_t kRunsThatTell = 3;

/// Whose a difference is, as far as the traces tell.
enum class Cause : std::uint8_t {
  kProgram,
  kMachine,  // or it may be: others used it more
  kRuns,     // or it may be: runs of one program differ as much
};

/// What all runs of a baseline together say; `p` and the smallest growth are those of the run that is nearest.
struct TimeTest {
  double base_us = 0, run_us = 0;  // medians
  double p = 1, least_p = 1;
  bool large = false;    // beyond tolerance and floor
  bool lasting = false;  // in every third
  Cause cause = Cause::kProgram;
  std::size_t steps = 0;
};
/// `alpha`: for what the runs of a baseline say of each other.
TimeTest test_longer(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha);
/// The other way round.
TimeTest test_shorter(const std::vector<TimeSamples>& runs, const CompareOptions& options, double alpha);

}  // namespace profshim::analysis_detail
