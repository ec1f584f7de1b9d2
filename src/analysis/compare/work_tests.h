// Did a step's own work grow? CPU time and instructions tell it on a busy machine, where the time of a step does not.
//
// The CPU time of a step is that of the thread that runs the steps, outside of calls that communicate or are CUDA's:
// inside them, the thread may poll, for as long as others let it wait. It is known to within bounds, because a wait may
// use the CPU or not. Steps of BASE count with the upper bound, those of NEW with
// the lower one if it is near the upper one.
#pragma once

#include <optional>

#include "time_tests.h"

namespace profshim::analysis_detail {

/// `rank`: index in RunProfile::ranks. Returns nothing if the rank does not know its CPU time, if other threads of its
/// process work, too (the thread may poll for them), or if instructions are known and have not grown. `measured`: the
/// baseline shows how much runs differ.
std::optional<TimeSamples> cpu_samples(const RunProfile& base, const RunProfile& run, std::size_t rank,
                                       const CompareOptions& options, bool measured);

}  // namespace profshim::analysis_detail
