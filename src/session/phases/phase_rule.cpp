#include "phase_rule.h"

#include <bit>

#include "profshim/base/glob.h"
#include "profshim/phase_ranges.h"
#include "profshim/recorder.h"

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

namespace {

/// Runs of this thread. By bit of phases_of().
struct Running {
  std::uint64_t bits;
  Event* ranges[64];  // null for ticks
};
thread_local constinit Running running __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

KernelRuns::KernelRuns(const std::vector<PhaseRule>& rules) {
  for (const PhaseRule& rule : rules) {
    if (rule.api == PhaseSource::kKernel) rules_.push_back({std::make_unique<KernelNames>(rule.pattern), rule.bit});
  }
}

void KernelRuns::launched(const char* name, Ticks at) {
  std::uint64_t matching = 0;
  for (const Rule& rule : rules_) {
    if (name != nullptr && rule.names->matches(name)) matching |= rule.bit;
  }
  const std::uint64_t ended = running.bits & ~matching, begun = matching & ~running.bits;
  if ((ended | begun) == 0) return;
  running.bits = matching;
  for (const Rule& rule : rules_) {
    Event*& range = running.ranges[std::countr_zero(rule.bit)];
    if ((ended & rule.bit) != 0) phase_ranges::end(range, rule.bit, at);
  }
  for (const Rule& rule : rules_) {
    Event*& range = running.ranges[std::countr_zero(rule.bit)];
    if ((begun & rule.bit) != 0) range = phase_ranges::begin(rule.bit, recorder::intern(name), at);
  }
}

}  // namespace profshim::session
