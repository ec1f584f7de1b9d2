// Non-blocking operations from post to completion. Only the request handle joins the two, and it is not unique: Open
// MPI and MPICH give one shared handle to all operations that were complete at their post, and reuse others at once.
// The request table is therefore a multimap, and the address of the request variable distinguishes equal handles if it
// can. An entry is found before the real completion function, which overwrites the handle, and taken after it.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/mpi/call.h"
#include "profshim/recorder.h"

namespace profshim::mpi {

namespace detail {
extern std::atomic<std::uint32_t> open_operations;
}
/// Returns true if a recorded operation is pending. If none is, completion functions cost nothing outside windows.
inline bool any_open_operation() { return detail::open_operations.load(std::memory_order_relaxed) != 0; }

/// Adds the pending operation `request`, recorded as `post` (with its begin set). Returns the id that joins post and
/// slice; 0 if there is no room, which counts as a loss.
std::uint32_t add_posted_request(const Event& post, Handle request, const void* address);
/// Adds a new persistent request, also while nothing is recorded. Each start copies the event `model`.
void add_persistent_request(const Event& model, Communicator* collective_on, Handle request, const void* address);
/// Numbers a collective and opens the slice of a persistent request that was started. `start`: event of the start,
/// whose begin is that of the slice; null if it is not recorded. `only_one`: *start gets the args of the request.
void start_persistent_request(Event* start, bool only_one, Handle request, const void* address);
/// To be called for MPI_Request_free. The operation completes unseen, so its slice is dropped.
void forget_request(Handle request, const void* address);

/// Releases a slice after its event has been committed, or drops it. Null is allowed.
inline void close_slice(Event* slice) {
  if (slice == nullptr) return;
  recorder::release_pending(slice);
  detail::open_operations.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace profshim::mpi
