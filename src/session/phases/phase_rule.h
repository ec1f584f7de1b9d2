#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profshim/base/rank.h"
#include "profshim/event.h"
#include "profshim/spec.h"
#include "session/steps/kernel_names.h"

namespace profshim::session {

/// Ranges that make a phase, or its ticks.
struct PhaseRule {
  PhaseSource api{};
  std::string pattern, prefix;
  std::uint64_t bit = 0;  // see phases_of()
};

/// Returns the rules of the phases that the spec selects for `rank`.
std::vector<PhaseRule> phase_rules(const Spec& spec, const Rank& rank);

/// Phases and ticks that are runs of launches ([[phase]] kernel = "*softmax*"): a run begins with a launch whose kernel
/// matches, and ends where the same thread launches another kernel.
class KernelRuns {
 public:
  /// Uses the rules of PhaseSource::kKernel.
  explicit KernelRuns(const std::vector<PhaseRule>& rules);
  bool any() const { return !rules_.empty(); }
  /// Call on the launching thread. `name`: mangled; null = a CUDA graph, whose kernels are unknown.
  void launched(const char* name, Ticks at);

 private:
  struct Rule {
    std::unique_ptr<KernelNames> names;
    std::uint64_t bit;
  };
  std::vector<Rule> rules_;
};

}  // namespace profshim::session
