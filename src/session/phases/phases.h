// The phases of the spec ([[phase]]) on this rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/spec.h"

namespace profshim::session {

struct State;

/// Ranges that make a phase, or its ticks.
struct PhaseRule {
  PhaseSource api{};
  std::string pattern, prefix;
  std::uint64_t bit = 0;  // see phases_of()
};

/// Returns the rules of the phases that the spec selects for `rank`.
std::vector<PhaseRule> phase_rules(const Spec& spec, const Rank& rank);
/// Describes the phases in the spool, and lets their ranges pass may_be_marker(). Call before the recording begins.
void define_phases(State& state);

}  // namespace profshim::session
