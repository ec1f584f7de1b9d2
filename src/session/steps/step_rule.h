#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/event.h"
#include "profshim/loop.h"
#include "profshim/spec.h"

namespace profshim::session {

/// Only one API makes steps: PyTorch may emit a range through NVTX, too.
enum class MarkerKind : std::uint8_t { kAny, kNvtx, kTorch };

/// A pattern of ranges.
struct StepPattern {
  std::string pattern = {};
  std::string prefix = {};  // begins every match
  bool torch_only = false;
};

/// The events that make steps: from the spec, or found. Constant, but for the last two members; never destroyed.
struct StepRule {
  StepSource source{};
  std::string pattern;                // of functions and kernels
  std::vector<StepPattern> patterns;  // of ranges
  bool at_end = false;                // a step ends where its marker ends
  std::int64_t every = 1;
  bool is_numbered = true;     // the marker's name may have the step's number
  bool of_operators = false;   // markers are operators of PyTorch
  bool is_made_by_all = true;  // all ranks make the calls equally often, at least within a group
  std::array<bool, static_cast<std::size_t>(HookId::kCount)> hooks{};  // functions that make steps
  const char* confidence = "";                                         // "" unless found

  mutable std::atomic<int> locked{-1};  // index of the pattern that makes steps; -1 = none yet
  mutable std::atomic<MarkerKind> locked_kind{MarkerKind::kAny};

  bool is_found() const { return *confidence != 0; }
  /// Bits of recorder::mode() that hooks of the markers need.
  std::uint32_t mode_bits() const;
  /// The value of PROFSHIM_SET that makes the same steps.
  std::string settings() const;
  /// Returns the pattern that makes steps; null = none yet.
  const StepPattern* chosen_pattern() const;
  /// As in the spec: "nvtx iteration*".
  std::string text() const;
};

/// Returns the steps of the spec. For steps.source = "auto": the ranges that always mark a step.
const StepRule* rule_of(const Spec& spec);
/// True for calls that all ranks make equally often, at least within a group.
bool is_made_by_all(loop::CallKind kind);
/// Return null if live events cannot make the steps: the launches of kernels are not watched.
const StepRule* rule_of(const loop::Symbol& symbol, const loop::Boundary& boundary, loop::Confidence confidence);
const StepRule* rule_of(const loop::Sequence& sequence, const loop::Finding& finding);

/// True if StepFinder looks for the steps.
bool must_be_found(const Spec& spec);

/// Returns ranges that only a rank has, among them those that make steps. None if operators make steps.
std::vector<std::string> ranges_of_ranks(const Spec& spec);

/// Returns the pattern of `rule` that a range matches; null = none. The first match chooses pattern and API.
const StepPattern* matched_pattern(const StepRule& rule, std::string_view text, MarkerKind kind);
std::optional<std::int64_t> number_of(const StepRule& rule, const StepPattern& pattern, std::string_view text);

/// Lets ranges whose names begin with `prefix` pass may_be_marker().
void allow_marker_prefix(std::string_view prefix);
/// Call before hooks ask may_be_marker() for the ranges of `rule`.
void allow_marker_first_bytes(const StepRule& rule, const std::string& epoch);

}  // namespace profshim::session
