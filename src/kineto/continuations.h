// Finds an event's second half (kContinuation): the next event in its run, or the first event of its thread's next run.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "profshim/spool/view.h"

namespace profshim::kineto {

class Continuations {
 public:
  /// Add runs in order of address.
  void add(const spool::Run& run) {
    runs_.push_back(run);
    first_by_order_[order_of(*run.header)] = run.events;
  }

  /// Returns null also if the second half was lost or `e` is a copy outside the spool.
  const Event* continuation_of(const Event& e) const {
    if ((e.flags & kContinues) == 0) return nullptr;
    const auto behind = std::partition_point(runs_.begin(), runs_.end(),
                                             [&e](const spool::Run& run) { return !is_before(&e, run.events); });
    if (behind == runs_.begin()) return nullptr;
    const spool::Run& run = *std::prev(behind);
    if (!is_before(&e, run.events + run.count)) return nullptr;
    const Event* next = &e + 1;
    if (next == run.events + run.count) {
      const auto at = first_by_order_.find(order_of(*run.header) + 1);
      if (at == first_by_order_.end()) return nullptr;
      next = at->second;
    }
    return next->hook == HookId::kContinuation ? next : nullptr;
  }

 private:
  static bool is_before(const Event* a, const Event* b) { return std::less<>{}(a, b); }
  static std::uint64_t order_of(const spool::RunHeader& run) { return std::uint64_t{run.thread} << 32 | run.sequence; }

  std::vector<spool::Run> runs_;
  std::unordered_map<std::uint64_t, const Event*> first_by_order_;
};

}  // namespace profshim::kineto
