#pragma once

#include <string>
#include <vector>

#include "profshim/spec.h"
#include "spec/value.h"

namespace profshim::spec {

/// Reads the tables [[phase]].
bool read_phases(const Value& value, std::vector<PhaseSpec>& phases, Refusal& refusal);
/// Returns inline tables in the order of the spec, with the settings that were given.
std::string phases_to_toml(const std::vector<PhaseSpec>& phases);

}  // namespace profshim::spec
