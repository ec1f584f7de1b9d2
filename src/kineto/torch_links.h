// What joins the operators of PyTorch to each other and to the GPU: the number that an operator and the calls made in
// it share ("External id"), and the operator whose gradient a backward function computes ("fwdbwd").
//
// PyTorch's profiler pushes a number around each operator, and CUPTI stamps it on every call; the same follows from the
// times, since both are ours: a call belongs to the innermost operator that is open on its thread when it begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kineto/device/work.h"

namespace profshim::kineto {

/// Operators that enclose calls on their thread: what Kineto calls cpu_op.
constexpr bool is_torch_op(const Event& e) {
  const bool is_op =
      e.hook == HookId::kTorchOperator || e.hook == HookId::kTorchBackward || e.hook == HookId::kTorchScript;
  return is_op && (e.flags & (kAsyncSlice | kStartEnd)) == 0;
}

class TorchLinks {
 public:
  /// The events of one thread in order (begin, longest first); `launches` may be empty.
  void add_thread(std::span<const Event* const> events, const LaunchIndex& launches);
  /// After the last thread. The "External id" of the operators count up from `first_id` in the order of add_thread().
  void finish(std::uint64_t first_id);

  /// Of the innermost operator around the call at that position of the launch index; 0 = in none.
  std::uint64_t external_id_of_call(std::uint32_t position) const {
    const bool known = position < innermost_.size() && innermost_[position] != 0;
    return known ? first_id_ + innermost_[position] - 1 : 0;
  }
  struct Flow {
    const Event* event;
    std::uint64_t number;
  };
  /// The flows that start at this operator, and that end at this backward function.
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
  std::vector<std::uint32_t> innermost_;  // operator + 1 of a call
  std::vector<Numbered> forward_;         // with a sequence number; by that, then begin
  std::vector<const Event*> backward_;
  std::vector<Flow> starts_, ends_;  // by event
};

}  // namespace profshim::kineto
