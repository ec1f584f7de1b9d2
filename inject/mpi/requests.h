// Non-blocking operations from post to completion. A request handle is all that joins the two, and it is not unique:
// Open MPI and MPICH give one shared handle to every operation that was complete at its post, and reuse others at once.
// So this is a multimap, the address of the request variable tells equal handles apart where it can, and an entry is
// found before the real completion function runs, which overwrites the handle, and taken out after it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "call.h"

namespace profshim::mpi {

namespace detail {
extern std::atomic<std::uint32_t> open_operations;
}
/// Does an operation pend that is to be shown? When not, completion functions cost nothing outside of windows.
inline bool any_open_operation() { return detail::open_operations.load(std::memory_order_relaxed) != 0; }

/// The operation recorded as `post` (begin set) now pends as `request`. Returns the id that joins post and slice;
/// 0 = no room, counted.
std::uint32_t request_posted(const Event& post, Handle request, const void* address);
/// A persistent request was made; `model` is the event that each start copies. Kept while not armed, too.
void request_prepared(const Event& model, Communicator* collective_on, Handle request, const void* address);
/// A persistent request was started. `start` is null when not recorded; else the slice begins when it did, and its args
/// are those of `model` (copied into *start when it is the only one).
void request_started(Event* start, bool only_one, Handle request, const void* address);
/// MPI_Request_free: it will complete unseen, so it leaves no slice.
void request_freed(Handle request, const void* address);

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
