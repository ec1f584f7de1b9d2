// What NCCL's profiler interface told of the operations of a window, and of which call each is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kineto/operations.h"

namespace profshim::kineto {

class NcclTasks {
 public:
  explicit NcclTasks(const spool::View& view) : view_(view) {}

  /// Events of kind kNcclTask.
  void add(const Event& task) { tasks_.push_back(&task); }
  /// After the last add(), with the operations of all threads.
  void finish(const Operations& operations);

  bool empty() const { return tasks_.empty(); }
  /// Appends what is known of the call. One may have several tasks (a send and a receive for each rank of an
  /// all-to-all, one more with each launch of a graph it was captured into): what they do not agree on is left out.
  void add_args(const Event& call, std::vector<Arg>& args) const;
  /// {"seen": 4, "joined": 3}: the rest are of no call in this window, or of none that NCCL names.
  std::string summary() const;

 private:
  std::span<const Event* const> of(const Event& call) const;

  const spool::View& view_;
  std::vector<const Event*> tasks_;  // by NcclTaskArgs::call
  std::vector<Ticks> ambiguous_;     // begins of two calls
  std::uint64_t joined_ = 0;
};

}  // namespace profshim::kineto
