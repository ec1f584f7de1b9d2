// Non-blocking operations from post to completion. A request handle is all that joins the two, and it is not unique:
// Open MPI and MPICH give one shared handle to every operation that was complete at its post, and reuse others at once.
// So this is a multimap, the address of the request variable tells equal handles apart where it can, and an entry is
// found before the real completion function runs, which overwrites the handle, and taken out after it.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/mpi/call.h"
#include "profshim/recorder.h"

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

/// Gives a slice back after its event has been committed. Null is allowed.
inline void close_slice(Event* slice) {
  if (slice == nullptr) return;
  recorder::release_pending(slice);
  detail::open_operations.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace profshim::mpi
