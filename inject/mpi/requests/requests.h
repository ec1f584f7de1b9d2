// Non-blocking operations from post to completion. Request handles are not unique: Open MPI and MPICH share one among
// operations complete at their post, and reuse others at once. So the request table is a multimap; the address of the
// request variable distinguishes equal handles if it can. Entries are found before the completion function, which
// overwrites the handle, and taken after it.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/mpi/call.h"
#include "profshim/recorder.h"

namespace profshim::mpi {

namespace detail {
extern std::atomic<std::uint32_t> open_operations;
}
/// If none is pending, completion functions cost nothing outside windows.
inline bool any_open_operation() { return detail::open_operations.load(std::memory_order_relaxed) != 0; }

/// Returns the id that joins post and slice; 0 = no request, or no room (a loss). `post` has its begin.
std::uint32_t add_posted_request(const Event& post, Handle request, const void* address);
/// Also while nothing is recorded. Each start copies `model`.
void add_persistent_request(const Event& model, Communicator* collective_on, Handle request, const void* address);
/// `start`: event with the begin of the slice; null = not recorded. `only_one`: *start gets the request's args.
void start_persistent_request(Event* start, bool only_one, Handle request, const void* address);
/// For MPI_Request_free: the operation completes unseen, so the slice is dropped.
void forget_request(Handle request, const void* address);

/// For a committed or dropped slice. Accepts null.
inline void close_slice(Event* slice) {
  if (slice == nullptr) return;
  recorder::release_pending(slice);
  detail::open_operations.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace profshim::mpi
