// Joins NCCL calls to what NCCL told its profiler plugin (kNcclTask).
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

  void add(const Event& task) { tasks_.push_back(&task); }
  /// Requires `operations` of all threads.
  void finish(const NcclOperations& operations);

  bool empty() const { return tasks_.empty(); }
  /// Appends the args that are equal in all tasks of the call. An all-to-all has two tasks per rank, a call captured in
  /// a CUDA graph one per launch.
  void add_args(const Event& call, std::vector<Arg>& args) const;
  std::string summary() const;

 private:
  std::span<const Event* const> tasks_of(const Event& call) const;

  const spool::View& view_;
  std::vector<const Event*> tasks_;  // sorted by NcclTaskArgs::call
  std::vector<Ticks> ambiguous_;     // times at which two calls began
  std::uint64_t joined_ = 0;
};

}  // namespace profshim::kineto
