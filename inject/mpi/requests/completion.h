// A call that completes requests: finds their operations before the real function and ends them after it.
#pragma once

#include <cstdint>
#include <memory>

#include "inject/mpi/call.h"

namespace profshim::mpi {

/// Around a call that completes requests.
class Completion {
 public:
  /// Before the real function, which overwrites the handles.
  explicit Completion(Call& call);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  /// After it.
  void finish(int result);

 private:
  struct Found {
    std::uint32_t slot;   // where in the multimap
    std::uint64_t entry;  // 0 = nothing of ours
    Handle handle;
    const void* address;
  };
  static constexpr int kInline = 64;
  static constexpr int kMaxStatusInts = 8;  // of any implementation

  void find_all();
  void want_statuses();
  void complete(int i, const int* status, bool failed);
  void complete_all(bool failed);
  void complete_some(bool failed);
  void complete_one(int i, bool failed);
  const int* status(int k) const;

  Call& call_;
  int array_ = 0;  // which argument holds the requests
  int n_ = 0;
  Ticks end_ = 0;
  Found inline_[kInline];
  Found* found_ = inline_;
  // Where the caller wants no statuses and we do. On the stack for as many as inline_ holds, and not cleared.
  std::unique_ptr<int[]> many_statuses_;
  alignas(8) int statuses_[kInline * kMaxStatusInts];
};

}  // namespace profshim::mpi
