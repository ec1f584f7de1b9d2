#include "nccl_operations.h"

#include <algorithm>
#include <unordered_map>

namespace profshim::kineto {

void NcclOperations::finish() {
  std::stable_sort(events_.begin(), events_.end(), by_operation);
  if (in_progress_.empty()) return;
  std::sort(in_progress_.begin(), in_progress_.end());
  std::vector<const Event*> in_time = events_;
  std::stable_sort(in_time.begin(), in_time.end(), [](const Event* a, const Event* b) { return a->begin < b->begin; });
  // The loop runs backward, so that each communicator's next operation is known.
  struct Next {
    Ticks begin, later;  // begin of `operation` and of the operation after it
    std::uint32_t operation;
  };
  std::unordered_map<std::uint32_t, Next> next;
  constexpr Ticks kNever = ~Ticks{0};
  for (auto at = in_time.rbegin(); at != in_time.rend(); ++at) {
    const Event& event = **at;
    const std::uint32_t operation = event.nccl.operation;
    Next& known = next.try_emplace(event.nccl.comm, Next{kNever, kNever, 0}).first->second;
    if (known.operation != operation) known = {event.begin, known.begin, operation};
    known.begin = event.begin;
    if (!std::binary_search(in_progress_.begin(), in_progress_.end(), operation)) continue;
    if (!late_.empty() && late_.back().operation == operation) {
      late_.back().begin = event.begin;
      late_.back().end = std::min(late_.back().end, known.later);
    } else {
      late_.push_back({event.begin, known.later, operation});
    }
  }
  std::reverse(late_.begin(), late_.end());
}

std::span<const Event* const> NcclOperations::launching_at(Ticks launch, std::string_view kernel, std::int64_t device,
                                                           const NcclOperationArgs& names) const {
  constexpr int kMostAtATime = 64;
  std::span<const Event* const> found;
  auto at = std::partition_point(late_.begin(), late_.end(), [=](const Late& late) { return late.begin <= launch; });
  for (int looked = 0; at != late_.begin() && looked < kMostAtATime; ++looked) {
    --at;
    if (launch >= at->end) continue;
    const auto together = calls_in(at->operation);
    if (names.operation_of_kernel(together, kernel, device) == nullptr) continue;
    if (!found.empty()) return {};
    found = together;
  }
  return found;
}

}  // namespace profshim::kineto
