// MPI communicators, tracked outside windows too: all ranks must number collectives equally.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi.h"
#include "inject/core/communicators.h"
#include "profshim/event.h"

namespace profshim::mpi {

/// A collective touches only this cache line.
struct alignas(64) Communicator {
  std::atomic<std::uint64_t> handle{0};
  std::uint64_t identity = 0;  // equal on all members; unique
  std::uint32_t id = 0;        // in this process; 1 = MPI_COMM_WORLD, 2 = MPI_COMM_SELF
  std::uint32_t parent = 0;
  std::int32_t size = 0;
  std::int32_t peers = 0;                  // destinations of an all-to-all: size of own or remote group
  std::int32_t rank = 0;                   // kNone32 = none
  StringId name = 0;                       // "MPI_COMM_WORLD", "split of MPI_COMM_WORLD"
  std::atomic<std::uint32_t> sequence{0};  // collectives so far
  std::atomic<std::uint32_t> created{0};   // communicators made from this one
  std::atomic<std::int32_t> neighbors{0};  // destinations of a neighborhood all-to-all; -1 = not asked yet
  std::atomic<bool> defined{false};
};
static_assert(sizeof(Communicator) == 64);

/// Call after detect_abi().
void define_predefined_communicators();
/// For a recording that may begin later: the first recorded call on an unknown communicator defines them. Any thread.
void define_predefined_communicators_at_first_call();

/// Adds an unknown communicator. Null for MPI_COMM_NULL or if the table is full. Any thread.
Communicator* communicator_of(Handle comm);

inline std::uint32_t next_sequence(Communicator& comm) { return inject::next_sequence(comm.sequence); }

std::uint32_t defined_id(Communicator& comm);

int neighbors_of(Communicator& comm);

/// Call after calls that are collective over `parent`, even if `created` is MPI_COMM_NULL, to count the creation.
void add_communicator(Communicator* parent, Handle created, const char* made);
/// Call after calls that are collective over the new members only. `tag` distinguishes communicators with equal
/// members.
void add_communicator_of_members(Communicator* parent, Handle created, const char* made, std::uint64_t tag);
/// Call after MPI_Comm_idup. Asks MPI nothing: `created` is unusable until the request completes.
void add_duplicate(Communicator& parent, Handle created, const char* made);

namespace detail {
extern thread_local constinit Communicator* last_counted __attribute__((tls_model("initial-exec")));
void count_on_another(Handle comm);
}  // namespace detail

inline void count_collective(Handle comm) {
  Communicator* const last = detail::last_counted;
  if (__builtin_expect(last != nullptr && last->handle.load(std::memory_order_acquire) == comm, 1)) {
    next_sequence(*last);
  } else {
    detail::count_on_another(comm);
  }
}

/// Call before MPI_Comm_free. If that fails, pass the result to restore_communicator().
Communicator* forget_communicator(Handle comm);
void restore_communicator(Communicator* comm, Handle handle);
void rename_communicator(Handle comm);

}  // namespace profshim::mpi
