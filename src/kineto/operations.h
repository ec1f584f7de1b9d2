// The NCCL operations of a window, and which of them a piece of device work does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kineto/args/nccl_args.h"

namespace profshim::kineto {

class Operations {
 public:
  void add(const Event& event) {
    if (hook_layer(event.hook) != Layer::kNccl || event.nccl.operation == 0) return;
    if (is_nccl_operation(event.hook)) events_.push_back(&event);
    // The group's end, where there is one.
    if (event.nccl.result == kInProgress) in_progress_.push_back(event.nccl.operation);
  }
  /// After the last add().
  void finish();
  /// Those that were launched together under this number (NcclArgs::operation): one, or those of a group.
  std::span<const Event* const> with(std::uint32_t operation) const {
    if (operation == 0) return {};
    const auto first = std::partition_point(events_.begin(), events_.end(),
                                            [=](const Event* e) { return e->nccl.operation < operation; });
    auto last = first;
    while (last != events_.end() && (*last)->nccl.operation == operation) ++last;
    return {first, last};
  }
  /// Those that may have launched this kernel after they had returned: a communicator that does not block launches on a
  /// thread of NCCL's, which carries no number. It does one thing at a time: the kernel is launched before its next
  /// operation begins. Nothing when more than one may be meant.
  std::span<const Event* const> launching_at(Ticks launch, std::string_view kernel, std::int64_t device,
                                             const NcclArgsText& names) const;
  std::span<const Event* const> all() const { return events_; }
  std::size_t count() const { return events_.size(); }
  /// "External id" in the trace, from 1 to count(), different for each; 0 = none.
  std::uint64_t external_id(const Event& event) const {
    const auto together = with(event.nccl.operation);
    const auto at = std::find(together.begin(), together.end(), &event);
    return at == together.end() ? 0 : static_cast<std::uint64_t>(&*at - events_.data()) + 1;
  }

 private:
  static constexpr std::int32_t kInProgress = 7;  // ncclInProgress
  struct Late {
    Ticks begin, end;
    std::uint32_t operation;
  };
  static bool by_operation(const Event* a, const Event* b) { return a->nccl.operation < b->nccl.operation; }
  std::vector<const Event*> events_;        // by operation
  std::vector<std::uint32_t> in_progress_;  // numbers of those that returned before their work was launched
  std::vector<Late> late_;                  // the same, by begin
};

}  // namespace profshim::kineto
