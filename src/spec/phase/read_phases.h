#pragma once

#include <string>
#include <vector>

#include "profshim/spec.h"
#include "spec/value.h"

namespace profshim::spec {

/// Reads the tables [[phase]].
bool read_phases(const Value& value, std::vector<PhaseSpec>& phases, Refusal& refusal);
/// The defaults of schedule.skip_first and schedule.warmup are for steps: a phase that gives a cycle without them has
/// torch.profiler's, which are 0, unless the top level gives them.
void complete_cycles(std::vector<PhaseSpec>& phases, bool top_gives_skip_first, bool top_gives_warmup);
/// Returns inline tables in the order of the spec, with the settings that were given.
std::string phases_to_toml(const std::vector<PhaseSpec>& phases);

}  // namespace profshim::spec
