#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/base/rank.h"
#include "profshim/spec.h"

namespace profshim::session {

/// Ranges that make a phase, or its ticks.
struct PhaseRule {
  PhaseSource api{};
  std::string pattern, prefix;
  std::uint64_t bit = 0;  // see phases_of()
};

/// Returns the rules of the phases that the spec selects for `rank`.
std::vector<PhaseRule> phase_rules(const Spec& spec, const Rank& rank);

}  // namespace profshim::session
