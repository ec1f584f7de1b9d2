// A slice is the event of a pending non-blocking operation. Request handles are not unique: Open MPI and MPICH give the
// same handle to all operations that complete at their post, and reuse other handles at once. So the request table is a
// multimap; among equal handles, a search prefers the same address of the request variable.
#pragma once

#include <atomic>
#include <cstdint>

#include "call.h"
#include "profshim/recorder.h"

namespace profshim::mpi {

namespace detail {
extern std::atomic<std::uint32_t> open_operations;
}
inline bool any_open_operation() { return detail::open_operations.load(std::memory_order_relaxed) != 0; }

/// Returns the id that joins post and slice; 0 = null request, or table full (reported). post.begin must be set.
std::uint32_t add_posted_request(const Event& post, Handle request, const void* address);
/// Call also outside windows: the request may start inside one. Each start copies `model`.
void add_persistent_request(const Event& model, Communicator* collective_on, Handle request, const void* address);
/// `start` is the call's event; null = not recorded. If `only_one`, `start` gets the request's arguments.
void start_persistent_request(Event* start, bool only_one, Handle request, const void* address);
/// For MPI_Request_free: drops the slice, as the operation completes unseen.
void forget_request(Handle request, const void* address);

inline void close_slice(Event* slice) {
  if (slice == nullptr) return;
  recorder::release_pending(slice);
  detail::open_operations.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace profshim::mpi
