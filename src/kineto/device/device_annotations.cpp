#include "device_annotations.h"

#include <algorithm>
#include <functional>

#include "kineto/args/nccl_operation_args.h"
#include "kineto/slice_order.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {

// Excludes ranges that may end on another thread: they enclose no calls.
bool DeviceAnnotations::is_range(const Event& e) const {
  if (is_nccl_operation(e.hook)) return true;
  return (e.hook == HookId::kNvtxRange || e.hook == HookId::kTorchRange) &&
         (e.flags & (kAsyncSlice | kStartEnd)) == 0 && !view_.string(e.name).starts_with(schema::name::kStepWord);
}

void DeviceAnnotations::add_thread(std::span<const Event* const> events, const LaunchIndex& launches) {
  std::vector<std::uint32_t> open;
  std::uint32_t hint = 0;
  for (const Event* const event : events) {
    while (!open.empty() && ranges_[open.back()].event->end <= event->begin) open.pop_back();
    if (is_range(*event)) {
      ranges_.push_back({event, open.empty() ? kNone : open.back()});
      open.push_back(static_cast<std::uint32_t>(ranges_.size() - 1));
    } else if (event->hook == HookId::kCudaApi && !open.empty()) {
      const std::uint32_t at = launches.find(event->api.correlation, hint);
      if (at == LaunchIndex::kNotFound || !launches.has_activity(at)) continue;
      if (innermost_.empty()) innermost_.resize(launches.size());
      innermost_[at] = open.back() + 1;
    }
  }
}

void DeviceAnnotations::extend(Span& span, Ticks begin, Ticks end) const {
  span.begin = span.end == 0 ? begin : std::min(span.begin, begin);
  span.end = std::max(span.end, end);
}

void DeviceAnnotations::finish(const DeviceActivity& activity, std::uint64_t first_id) {
  if (innermost_.empty()) return;
  for (const auto& [key, stream] : activity.streams()) {
    std::map<std::uint32_t, Span, std::greater<>> by_range;  // inner first: the loop adds outer ranges
    Span* current = nullptr;
    std::uint32_t hint = 0, current_range = kNone;
    for (const Event* const e : stream.activity) {
      const std::uint32_t at = activity.launches().find(e->gpu.correlation, hint);
      if (at == LaunchIndex::kNotFound || innermost_[at] == 0) continue;
      const std::uint32_t range = innermost_[at] - 1;
      if (range != current_range) current = &by_range[range];
      current_range = range;
      extend(*current, e->begin, e->end);
    }
    std::vector<Span>& spans = spans_[key];
    for (auto& [i, span] : by_range) {
      if (const std::uint32_t outer = ranges_[i].outer; outer != kNone) extend(by_range[outer], span.begin, span.end);
      span.range = ranges_[i].event;
      ids_[span.range] = first_id + i;
      spans.push_back(span);
    }
    std::reverse(spans.begin(), spans.end());  // outer before equally long inner ranges
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return is_before({a.begin, a.end}, {b.begin, b.end});
    });
  }
}

}  // namespace profshim::kineto
