#pragma once

#include <algorithm>
#include <vector>

#include "profshim/event.h"

namespace profshim::kineto {

struct Slice {
  Ticks begin, end;
};

inline bool is_before(const Slice& a, const Slice& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; }

/// Threads record calls at their end: only nested calls need sorting.
inline void sort_slices(std::vector<const Event*>& events) {
  const auto earlier = [](const Event* a, const Event* b) { return is_before({a->begin, a->end}, {b->begin, b->end}); };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) std::sort(events.begin(), events.end(), earlier);
}

/// Returns the thread that began a range with kStartEnd; 0 = unknown.
inline std::int64_t start_tid(const Event& range) {
  if (is_rpc(range.hook)) return static_cast<std::int64_t>(range.rpc.began_on);
  return hook_layer(range.hook) == Layer::kTorch ? static_cast<std::int64_t>(range.torch.record_function)
                                                 : std::int64_t{range.nvtx.start_tid};
}

}  // namespace profshim::kineto
