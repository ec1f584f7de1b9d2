#include "profshim/loop.h"

namespace profshim::loop {
namespace {

constexpr std::size_t kFewCycles = 5, kManyCycles = 8;
/// Loops without a marker may be parts of longer loops, or of the job's start.
constexpr std::int64_t kWithoutMarker_ns = 2'000'000'000;
/// Small loops of operators are parts of a step, or of the job's start.
constexpr std::size_t kFewCalls = 3;
constexpr double kMostOfTime = 0.5;
constexpr double kLongBefore = 1.0 / 3, kAlike = 0.2;

}  // namespace

bool is_settled(const Sequence& sequence, const Finding& finding, std::int64_t elapsed_ns) {
  if (!finding.chosen || finding.confidence == Confidence::kLow || finding.may_be_part) return false;
  const Level& level = finding.levels[*finding.chosen];
  if (level.cycles < (finding.confidence == Confidence::kHigh ? kFewCycles : kManyCycles)) return false;
  const CallKind kind = sequence.symbols[level.boundary.symbol].kind;
  if (!is_range(kind) && elapsed_ns < kWithoutMarker_ns) return false;
  const double covered_ns = level.period_ns * static_cast<double>(level.cycles);
  const bool is_small = level.calls < kFewCalls || covered_ns < kMostOfTime * static_cast<double>(elapsed_ns);
  if (kind == CallKind::kOperator && is_small) return false;
  // A rollout runs the model, too, and recurs only after all steps that use it.
  return finding.time_before < kLongBefore || finding.common_before < kAlike;
}

}  // namespace profshim::loop
