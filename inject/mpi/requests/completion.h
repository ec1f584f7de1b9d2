// A call that completes requests: finds their operations before the real function and ends them after it.
#pragma once

#include <cstdint>
#include <memory>

#include "inject/mpi/call.h"

namespace profshim::mpi {

/// Lives on the stack of the hook around a call that completes requests.
class Completion {
 public:
  /// To be constructed before the real function, which overwrites the handles.
  explicit Completion(Call& call);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  /// To be called after it.
  void finish(int result);

 private:
  struct Found {
    std::uint32_t slot;   // in the request table
    std::uint64_t entry;  // 0 = not in the request table
    Handle handle;
    const void* address;
  };
  static constexpr int kInline = 64;
  static constexpr int kMaxStatusInts = 8;  // size of the largest status of any implementation

  void find_all();
  void want_statuses();
  void complete(int i, const int* status, bool failed);
  void complete_all(bool failed);
  void complete_some(bool failed);
  void complete_one(int i, bool failed);
  const int* status(int k) const;

  Call& call_;
  int array_ = 0;  // position of the argument with the requests
  int n_ = 0;
  Ticks end_ = 0;
  Found inline_[kInline];
  Found* found_ = inline_;
  // Room for statuses that the caller ignores and we need. Up to kInline of them are on the stack, not cleared.
  std::unique_ptr<int[]> many_statuses_;
  alignas(8) int statuses_[kInline * kMaxStatusInts];
};

}  // namespace profshim::mpi
