#include "left_out.h"

#include <algorithm>

#include "profshim/base/glob.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

bool matches(const std::vector<std::string>& patterns, std::string_view category, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return glob_match(pattern, name) || glob_match(pattern, category);
  });
}

bool is_between_ranks(std::string_view name) {
  return name.starts_with(schema::name::kMpiStart) || name.starts_with(schema::name::kNcclStart) ||
         name == schema::name::kCommunication;
}

bool always_stays(const TraceEvent& event) {
  return event.text_ids || event.category == Category::kTrace || event.category == Category::kPhase ||
         event.category == Category::kNone || event.name.starts_with(schema::name::kStepStart);
}

}  // namespace

LeftOut::Verdict LeftOut::judge(std::string_view category, std::string_view name) const {
  if (matches(rules_.exclude, category, name)) return Verdict::kNever;
  if (is_between_ranks(name)) return Verdict::kAlways;
  const bool included = rules_.include.empty() || matches(rules_.include, category, name);
  return included ? Verdict::kIfLong : Verdict::kNever;
}

LeftOut::Verdict LeftOut::verdict_on(const TraceEvent& event) {
  if (always_stays(event)) return Verdict::kAlways;
  Names& names = verdicts_[event.category];
  const auto known = names.find(event.name);
  if (known != names.end()) return known->second;
  const Verdict verdict = judge(schema::category_name(event.category), event.name);
  names.emplace(event.name, verdict);
  return verdict;
}

void LeftOut::count(const TraceEvent& event) {
  if (!is_first_pass_) return;
  Sum& sum = sums_[schema::category_name(event.category)];
  ++sum.events;
  sum.ns += event.duration_ns;
}

bool LeftOut::keeps_slice(const TraceEvent& event) {
  const Verdict verdict = verdict_on(event);
  const bool is_short = static_cast<double>(event.duration_ns) < rules_.min_us * 1000.0;
  left_out_last_ = verdict == Verdict::kNever || (verdict == Verdict::kIfLong && is_short);
  if (left_out_last_) count(event);
  return !left_out_last_;
}

bool LeftOut::keeps_flow(const TraceEvent& event) {
  const std::pair flow(event.category, event.id);
  if (is_first_pass_ && left_out_last_) flows_.insert(flow);
  return !flows_.contains(flow);
}

bool LeftOut::keeps(const TraceEvent& event) {
  switch (event.phase) {
    case schema::phase::kSlice:
      return keeps_slice(event);
    case schema::phase::kFlowStart:
    case schema::phase::kFlowStep:
    case schema::phase::kFlowEnd:
      return keeps_flow(event);
    case schema::phase::kInstant:
    case schema::phase::kAsyncBegin:
    case schema::phase::kAsyncInstant:
    case schema::phase::kAsyncEnd: {
      if (verdict_on(event) != Verdict::kNever) return true;
      if (event.phase == schema::phase::kInstant || event.phase == schema::phase::kAsyncBegin) count(event);
      return false;
    }
    default:
      return true;
  }
}

}  // namespace profshim::kineto
