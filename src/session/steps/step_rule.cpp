#include "step_rule.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "profshim/base/glob.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::session {

namespace detail {
constinit std::atomic<std::uint64_t> marker_first_bytes[4] = {};
}  // namespace detail

namespace {

// Ranges that name a step, by NVTX or record_function.
constexpr std::string_view kNamedSteps[] = {"ProfilerStep#*", "training_step_*", "iteration*"};
// PyTorch's own ranges: torch/optim/optimizer.py (profile_hook_step), torch/nn/parallel/distributed.py,
// torch/distributed/fsdp.
constexpr std::string_view kTraining[] = {"Optimizer.step#*", "DistributedDataParallel.forward",
                                          "FullyShardedDataParallel.forward"};

using namespace recorder;  // the modes of steps.def
constexpr std::uint32_t kModes[] = {
#define STEP_SOURCE(enumerator, word, pattern, wanted, example, why_no_end, modes, traits) modes,
#include "profshim/spec/steps.def"
#undef STEP_SOURCE
};

StepPattern pattern_of(std::string_view text, bool torch_only) {
  return {std::string(text), std::string(glob_literal_prefix(text)), torch_only};
}

void find_hooks(StepRule& rule) {
  for (std::size_t i = 0; i < rule.hooks.size(); ++i) {
    const std::string_view name = hook_name(static_cast<HookId>(i));
    rule.hooks[i] = !name.empty() && glob_match(rule.pattern, name);
  }
}

}  // namespace

const StepPattern* StepRule::chosen_pattern() const {
  const int index = locked.load(std::memory_order_relaxed);
  return index >= 0 ? &patterns[static_cast<std::size_t>(index)] : nullptr;
}

std::uint32_t StepRule::mode_bits() const {
  std::uint32_t bits = kModes[static_cast<std::size_t>(source)];
  if (of_operators) bits |= recorder::kOperatorSteps;
  return bits;
}

std::string StepRule::settings() const {
  std::string text = "steps.source=" + std::string(row_of(source).word) + " steps.pattern=\"" + pattern + "\"";
  if (at_end) text += " steps.edge=end";
  if (every > 1) text += " steps.every=" + std::to_string(every);
  return text;
}

std::string StepRule::text() const {
  const std::string word(row_of(source).word);
  const bool has_pattern = source != StepSource::kAuto && row_of(source).pattern != StepSourceRow::Pattern::kNone;
  return has_pattern && !(source == StepSource::kTorch && pattern.empty()) ? word + " " + pattern : word;
}

const StepRule* rule_of(const Spec& spec) {
  auto rule = std::make_unique<StepRule>();
  rule->source = spec.steps.source;
  rule->pattern = spec.steps.pattern;
  rule->at_end = spec.steps.edge_end;
  rule->every = spec.steps.every;
  const bool torch = rule->source == StepSource::kTorch;
  const bool has_ranges = row_of(rule->source).has(StepSourceRow::kRanges);
  if (has_ranges && rule->source != StepSource::kAuto && !rule->pattern.empty()) {
    rule->patterns.push_back(pattern_of(rule->pattern, torch));
    rule->of_operators = torch && rule->pattern.find("::") != std::string::npos;  // "aten::embedding"
  } else if (has_ranges) {
    for (const std::string_view pattern : kNamedSteps) rule->patterns.push_back(pattern_of(pattern, torch));
  }
  if (rule->source == StepSource::kCollective) find_hooks(*rule);
  return rule.release();
}

bool is_made_by_all(loop::CallKind kind) {
  return loop::is_range(kind) || kind == loop::CallKind::kCollective || kind == loop::CallKind::kOperator;
}

const StepRule* rule_of(const loop::Symbol& symbol, const loop::Boundary& boundary, loop::Confidence confidence) {
  auto rule = std::make_unique<StepRule>();
  const std::string_view source = loop::source_of(symbol);
  rule->pattern = loop::pattern_of(symbol);
  rule->at_end = boundary.at_end;
  rule->every = boundary.every;
  rule->confidence = loop::text_of(confidence);
  rule->of_operators = symbol.kind == loop::CallKind::kOperator;
  rule->is_made_by_all = is_made_by_all(symbol.kind);
  rule->is_numbered = symbol.kind == loop::CallKind::kTorchRange || symbol.kind == loop::CallKind::kNvtxRange;
  if (source == "torch" || source == "nvtx") {
    const bool torch = source == "torch";
    rule->source = torch ? StepSource::kTorch : StepSource::kNvtx;
    if (!rule->of_operators) rule->patterns.push_back(pattern_of(rule->pattern, torch));
  } else if (source == "collective") {
    rule->source = StepSource::kCollective;
    find_hooks(*rule);
  } else {
    return nullptr;
  }
  return rule.release();
}

const StepRule* rule_of(const loop::Sequence& sequence, const loop::Finding& finding) {
  const loop::Level& level = finding.levels[*finding.chosen];
  if (!level.boundary.previous) {
    const auto* const rule = rule_of(sequence.symbols[level.boundary.symbol], level.boundary, finding.confidence);
    if (rule != nullptr) return rule;
  }
  for (const loop::Boundary& other : level.others) {
    const auto* const rule = rule_of(sequence.symbols[other.symbol], other, finding.confidence);
    if (rule != nullptr) return rule;
  }
  return nullptr;
}

bool must_be_found(const Spec& spec) {
  const StepSource source = spec.steps.source;
  return source == StepSource::kAuto || (source == StepSource::kTorch && spec.steps.pattern.empty());
}

std::vector<std::string> ranges_of_ranks(const Spec& spec) {
  std::vector<std::string> ranges;
  const std::unique_ptr<const StepRule> rule(rule_of(spec));
  if (rule->of_operators) return ranges;
  for (const StepPattern& pattern : rule->patterns) ranges.push_back(pattern.pattern);
  if (must_be_found(spec)) ranges.insert(ranges.end(), std::begin(kTraining), std::end(kTraining));
  if (!spec.steps.epoch.empty()) ranges.push_back(spec.steps.epoch);
  for (const PhaseSpec& phase : spec.phases) {
    if (phase.ranges_of.source == PhaseSource::kTorch) ranges.push_back(phase.ranges_of.pattern);
  }
  return ranges;
}

void allow_marker_prefix(std::string_view prefix) {
  if (prefix.empty()) {
    for (std::atomic<std::uint64_t>& word : detail::marker_first_bytes) word = ~std::uint64_t{0};
    return;
  }
  const auto first = static_cast<unsigned char>(prefix.front());
  detail::marker_first_bytes[first / 64].fetch_or(std::uint64_t{1} << (first % 64));
}

void allow_marker_first_bytes(const StepRule& rule, const std::string& epoch) {
  for (const StepPattern& pattern : rule.patterns) allow_marker_prefix(pattern.prefix);
  if (!epoch.empty()) allow_marker_prefix(glob_literal_prefix(epoch));
}

}  // namespace profshim::session
