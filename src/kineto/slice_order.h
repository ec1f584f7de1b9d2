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

}  // namespace profshim::kineto
