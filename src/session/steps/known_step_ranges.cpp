#include "known_step_ranges.h"

#include <string_view>
#include <utility>

#include "profshim/base/glob.h"

namespace profshim::session {

namespace detail {
constinit std::uint64_t marker_first_bytes[4] = {};
}  // namespace detail

namespace {

// Ranges that name a step, by NVTX or record_function.
constexpr std::string_view kNamedSteps[] = {"ProfilerStep#*", "training_step_*", "iteration*"};
// PyTorch's own ranges: torch/optim/optimizer.py (profile_hook_step), torch/nn/parallel/distributed.py,
// torch/distributed/fsdp.
constexpr std::string_view kOptimizerSteps = "Optimizer.step#*";
constexpr std::string_view kForwardRanges[] = {"DistributedDataParallel.forward", "FullyShardedDataParallel.forward"};

}  // namespace

std::vector<StepPattern> step_patterns(const Spec& spec) {
  std::vector<StepPattern> patterns;
  const auto add = [&patterns](std::string_view pattern, StepPattern kind) {
    kind.pattern = pattern;
    kind.prefix = glob_literal_prefix(pattern);
    patterns.push_back(std::move(kind));
  };
  const bool nvtx = spec.steps.source == StepSource::kNvtx, any = spec.steps.source == StepSource::kAuto;
  const bool torch = spec.steps.source == StepSource::kTorch;
  if ((nvtx || torch) && !spec.steps.pattern.empty()) {
    add(spec.steps.pattern, {.torch_only = torch});
    return patterns;
  }
  if (nvtx || any || torch) {
    for (const std::string_view pattern : kNamedSteps) add(pattern, {.torch_only = torch});
  }
  if (any || torch) {
    add(kOptimizerSteps, {.torch_only = true, .at_end = true});
    for (const std::string_view pattern : kForwardRanges) add(pattern, {.torch_only = true, .is_weak = true});
  }
  return patterns;
}

void set_marker_first_bytes(const State& s) {
  const auto allow = [](std::string_view prefix) {
    if (prefix.empty()) {
      for (std::uint64_t& word : detail::marker_first_bytes) word = ~std::uint64_t{0};
      return;
    }
    const auto first = static_cast<unsigned char>(prefix.front());
    detail::marker_first_bytes[first / 64] |= std::uint64_t{1} << (first % 64);
  };
  for (const StepPattern& p : s.patterns) allow(p.prefix);
  if (!s.spec.steps.epoch.empty()) allow(glob_literal_prefix(s.spec.steps.epoch));
}

}  // namespace profshim::session
