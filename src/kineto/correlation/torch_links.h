// Joins PyTorch operators to CUDA calls ("External id") and to backward functions ("fwdbwd" arrows). A call belongs to
// the innermost operator in progress on its thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kineto/device/device_activity.h"

namespace profshim::kineto {

/// Operators (cpu_op) that enclose calls of their thread.
constexpr bool is_torch_op(const Event& e) {
  const bool is_op =
      e.hook == HookId::kTorchOperator || e.hook == HookId::kTorchBackward || e.hook == HookId::kTorchScript;
  return is_op && (e.flags & (kAsyncSlice | kStartEnd)) == 0;
}

class TorchLinks {
 public:
  /// `events`: sorted by begin, longest first.
  void add_thread(std::span<const Event* const> events, const LaunchIndex& launches);
  /// Numbers the operators from `first_id` on, in the order added.
  void finish(std::uint64_t first_id);

  /// Returns the operator's id for a position in LaunchIndex; 0 = none.
  std::uint64_t external_id_of_call(std::uint32_t position) const {
    const bool known = position < innermost_.size() && innermost_[position] != 0;
    return known ? first_id_ + innermost_[position] - 1 : 0;
  }
  struct Flow {
    const Event* event;
    std::uint64_t number;
  };
  std::span<const Flow> starting_at(const Event& op) const { return flows_at(starts_, op); }
  std::span<const Flow> ending_at(const Event& op) const { return flows_at(ends_, op); }

 private:
  struct Numbered {
    const Event* event;
    std::uint32_t thread;
  };
  static bool by_event(const Flow& a, const Flow& b) { return a.event < b.event; }
  static std::span<const Flow> flows_at(const std::vector<Flow>& flows, const Event& op) {
    const auto [first, last] = std::equal_range(flows.begin(), flows.end(), Flow{&op, 0}, by_event);
    return {first, last};
  }
  void join(const Event& backward);

  std::uint64_t first_id_ = 1;
  std::uint32_t ops_ = 0, threads_ = 0;
  std::vector<std::uint32_t> innermost_;  // per call of LaunchIndex: operator + 1; 0 = none
  std::vector<Numbered> forward_;         // sorted by sequence number, then begin
  std::vector<const Event*> backward_;
  std::vector<Flow> starts_, ends_;
};

}  // namespace profshim::kineto
