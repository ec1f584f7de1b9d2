#include "launches.h"

#include <algorithm>

namespace profshim::analysis_detail {

Launches::Launches(const Timeline& timeline) : timeline_(timeline) {
  for (std::uint32_t i = 0; i < timeline.slices.size(); ++i) {
    const Slice& s = timeline.slices[i];
    const bool is_operator = s.kind == Kind::kCpuOp || s.kind == Kind::kUserAnnotation;
    if (is_operator && s.external_id != 0) operators_.emplace_back(s.external_id, i);
    if (is_api_call(s.kind) && s.correlation != 0) calls_.emplace_back(s.correlation, i);
  }
  std::sort(operators_.begin(), operators_.end());
  std::sort(calls_.begin(), calls_.end());
}

std::uint32_t Launches::find(const std::vector<Link>& links, std::int64_t number) {
  if (number == 0) return kNone;
  const auto at = std::lower_bound(links.begin(), links.end(), Link{number, 0});
  return at == links.end() || at->first != number ? kNone : at->second;
}

std::uint32_t Launches::operator_of_call(const Slice& call) const {
  // Until 2024-10 Kineto wrote the correlation as External id of a call without an operator.
  return call.external_id == call.correlation ? kNone : find(operators_, call.external_id);
}

std::uint32_t Launches::launcher_of(const Slice& activity) const {
  if (const std::uint32_t op = find(operators_, activity.external_id); op != kNone) return op;
  const std::uint32_t call = find(calls_, activity.correlation);
  if (call == kNone) return kNone;
  const std::uint32_t op = operator_of_call(timeline_.slices[call]);
  return op != kNone ? op : call;
}

}  // namespace profshim::analysis_detail
