// The tasks that NCCL's profiler interface reported (algorithm, protocol, channels), joined to the NCCL calls.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nccl_operations.h"

namespace profshim::kineto {

class NcclTasks {
 public:
  explicit NcclTasks(const spool::View& view) : view_(view) {}

  /// Takes events of kind kNcclTask.
  void add(const Event& task) { tasks_.push_back(&task); }
  /// Call it after the last add(), with the operations of all threads.
  void finish(const NcclOperations& operations);

  bool empty() const { return tasks_.empty(); }
  /// Appends the args that all tasks of the call agree on. A call has several tasks if it is an all-to-all (a send and
  /// a receive for each rank) or was captured into a graph (one task per launch).
  void add_args(const Event& call, std::vector<Arg>& args) const;
  /// Returns {"seen": 4, "joined": 3}. The other tasks belong to a call outside this window, or NCCL names no call.
  std::string summary() const;

 private:
  std::span<const Event* const> of(const Event& call) const;

  const spool::View& view_;
  std::vector<const Event*> tasks_;  // by NcclTaskArgs::call
  std::vector<Ticks> ambiguous_;     // two calls began at this tick
  std::uint64_t joined_ = 0;
};

}  // namespace profshim::kineto
