#include "phase_rule.h"

#include "profshim/base/glob.h"

namespace profshim::session {
namespace {

PhaseRule rule_of(const PhaseSpec::Ranges& ranges, std::uint64_t bit) {
  return {ranges.source, ranges.pattern, std::string(glob_literal_prefix(ranges.pattern)), bit};
}

}  // namespace

std::vector<PhaseRule> phase_rules(const Spec& spec, const Rank& rank) {
  std::vector<PhaseRule> rules;
  for (std::size_t i = 0; i < spec.phases.size(); ++i) {
    const PhaseSpec& phase = spec.phases[i];
    if (!is_selected(spec, phase, rank)) continue;
    rules.push_back(rule_of(phase.ranges_of, std::uint64_t{1} << i));
    if (phase.ticks) rules.push_back(rule_of(*phase.ticks, std::uint64_t{1} << (kMostPhases + i)));
  }
  return rules;
}

}  // namespace profshim::session
