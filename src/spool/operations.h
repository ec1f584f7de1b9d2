// The NCCL operations of a window, and which of them a piece of device work does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "nccl_args.h"

namespace profshim::spool {

class Operations {
 public:
  void add(const Event& event) {
    if (is_nccl_operation(event.hook) && event.nccl.operation != 0) events_.push_back(&event);
  }
  /// After the last add().
  void finish() { std::stable_sort(events_.begin(), events_.end(), by_operation); }
  /// Those that were launched together under this number (NcclArgs::operation): one, or those of a group.
  std::span<const Event* const> with(std::uint32_t operation) const {
    if (operation == 0) return {};
    const auto first = std::partition_point(events_.begin(), events_.end(),
                                            [=](const Event* e) { return e->nccl.operation < operation; });
    auto last = first;
    while (last != events_.end() && (*last)->nccl.operation == operation) ++last;
    return {first, last};
  }
  std::size_t count() const { return events_.size(); }
  /// "External id" in the trace, from 1 to count(), different for each; 0 = none.
  std::uint64_t external_id(const Event& event) const {
    const auto together = with(event.nccl.operation);
    const auto at = std::find(together.begin(), together.end(), &event);
    return at == together.end() ? 0 : static_cast<std::uint64_t>(&*at - events_.data()) + 1;
  }

 private:
  static bool by_operation(const Event* a, const Event* b) { return a->nccl.operation < b->nccl.operation; }
  std::vector<const Event*> events_;  // by operation
};

}  // namespace profshim::spool
