// Finds NCCL operations by number (NcclArgs::operation).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kineto/args/nccl_operation_args.h"

namespace profshim::kineto {

class NcclOperations {
 public:
  void add(const Event& event) {
    if (hook_layer(event.hook) != Layer::kNccl || event.nccl.operation == 0) return;
    if (is_nccl_operation(event.hook)) events_.push_back(&event);
    // In a group, only ncclGroupEnd() returns kInProgress.
    if (event.nccl.result == kInProgress) in_progress_.push_back(event.nccl.operation);
  }
  void finish();
  std::span<const Event* const> calls_in(std::uint32_t operation) const {
    if (operation == 0) return {};
    const auto first = std::partition_point(events_.begin(), events_.end(),
                                            [=](const Event* e) { return e->nccl.operation < operation; });
    auto last = first;
    while (last != events_.end() && (*last)->nccl.operation == operation) ++last;
    return {first, last};
  }
  /// For non-blocking communicators: an NCCL thread launches `kernel` after the call returned, without external id,
  /// before the communicator's next operation. Returns the operations that `kernel` does; nothing if ambiguous.
  std::span<const Event* const> launching_at(Ticks launch, std::string_view kernel, std::int64_t device,
                                             const NcclOperationArgs& names) const;
  std::span<const Event* const> all() const { return events_; }
  std::size_t count() const { return events_.size(); }
  std::uint64_t external_id(const Event& event) const {
    const auto together = calls_in(event.nccl.operation);
    const auto at = std::find(together.begin(), together.end(), &event);
    return at == together.end() ? 0 : static_cast<std::uint64_t>(&*at - events_.data()) + 1;
  }

 private:
  static constexpr std::int32_t kInProgress = 7;
  /// An operation whose kernel an NCCL thread launches in [begin, end).
  struct Late {
    Ticks begin, end;
    std::uint32_t operation;
  };
  static bool by_operation(const Event* a, const Event* b) { return a->nccl.operation < b->nccl.operation; }
  std::vector<const Event*> events_;  // sorted by operation
  std::vector<std::uint32_t> in_progress_;
  std::vector<Late> late_;  // sorted by begin
};

}  // namespace profshim::kineto
