// The real function overwrites the request handles, so the constructor finds their operations before that call.
// finish() ends the completed operations.
#pragma once

#include <cstdint>
#include <memory>

#include "call.h"

namespace profshim::mpi {

class Completion {
 public:
  explicit Completion(Call& call);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  void finish(int result);

 private:
  struct Found {
    std::uint32_t slot;
    std::uint64_t entry;  // 0 = not in the request table
    Handle handle;
    const void* address;
  };
  static constexpr int kInline = 64;
  static constexpr int kMaxStatusInts = 8;

  void find_all();
  void want_statuses();
  void complete(int i, const int* status, bool failed);
  void complete_all(bool failed);
  void complete_some(bool failed);
  void complete_one(int i, bool failed);
  const int* status(int k) const;

  Call& call_;
  int array_ = 0;  // argument position of the requests
  int n_ = 0;
  Ticks end_ = 0;
  Found inline_[kInline];
  Found* found_ = inline_;
  // These replace statuses that the caller ignores.
  std::unique_ptr<int[]> many_statuses_;
  alignas(8) int statuses_[kInline * kMaxStatusInts];
};

}  // namespace profshim::mpi
