#include "kernel_runs.h"

#include <bit>

#include "profshim/phase_ranges.h"
#include "profshim/recorder.h"

namespace profshim::session {
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
