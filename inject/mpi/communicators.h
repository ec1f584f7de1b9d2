// The communicators of this process: members, an identity that is equal on all members, and a count of collectives.
// They are followed from activation on, also while nothing is recorded, because all ranks must count alike.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi.h"
#include "inject/core/sequence.h"
#include "profshim/event.h"

namespace profshim::mpi {

/// An entry of the table. One cache line holds everything that a collective needs.
struct alignas(64) Communicator {
  std::atomic<std::uint64_t> handle{0};
  std::uint64_t identity = 0;  // equal on all members, different for each communicator ever made of them
  std::uint32_t id = 0;        // Definition id; 1 = MPI_COMM_WORLD, 2 = MPI_COMM_SELF
  std::uint32_t parent = 0;
  std::int32_t size = 0;                   // of the own group
  std::int32_t peers = 0;                  // destinations of an all-to-all: size, or the size of the remote group
  std::int32_t rank = 0;                   // own rank in it, or kNone32
  StringId name = 0;                       // how it was made, until MPI is asked for its name
  std::atomic<std::uint32_t> sequence{0};  // collectives so far
  std::atomic<std::uint32_t> created{0};   // communicators made of it so far
  std::atomic<std::int32_t> neighbors{0};  // destinations of a neighborhood all-to-all; -1 = not asked yet
  std::atomic<bool> defined{false};
};
static_assert(sizeof(Communicator) == 64);

/// Adds MPI_COMM_WORLD and MPI_COMM_SELF. To be called after detect_abi().
void define_predefined_communicators();

/// Adds a communicator that is not in the table. Returns null for MPI_COMM_NULL and if the table is full. Any thread.
Communicator* communicator_of(Handle comm);

/// Returns the number of the collective that begins now on `comm`: 1, 2, ...
inline std::uint32_t next_sequence(Communicator& comm) { return inject::next_sequence(comm.sequence); }

/// Returns the Definition id of `comm`, and defines it at its first use in a recorded event.
std::uint32_t defined_id(Communicator& comm);

/// Returns the number of destinations of an MPI_Neighbor_alltoall of this process.
int neighbors_of(Communicator& comm);

/// A collective over `parent` has returned `created`. To be called on members that got MPI_COMM_NULL too, because all
/// must count it. `made`: Row::made.
void add_communicator(Communicator* parent, Handle created, const char* made);
/// As add_communicator(), for calls that are collective over the new members only. `tag` distinguishes communicators of
/// the same members.
void add_communicator_of_members(Communicator* parent, Handle created, const char* made, std::uint64_t tag);
/// Adds a communicator with the members of `parent` without asking MPI, which allows no use of `created` before
/// MPI_Comm_idup has completed.
void add_duplicate(Communicator& parent, Handle created, const char* made);

namespace detail {
extern thread_local constinit Communicator* last_counted __attribute__((tls_model("initial-exec")));
void count_on_another(Handle comm);
}  // namespace detail

/// Counts a collective on `comm` that is not recorded. Fast if it is on the communicator of the thread's last one.
inline void count_collective(Handle comm) {
  Communicator* const last = detail::last_counted;
  if (__builtin_expect(last != nullptr && last->handle.load(std::memory_order_acquire) == comm, 1)) {
    next_sequence(*last);
  } else {
    detail::count_on_another(comm);
  }
}

/// Removes the handle from the table. Returns the entry for restore_communicator(), in case the real function fails.
Communicator* forget_communicator(Handle comm);
void restore_communicator(Communicator* comm, Handle handle);
/// To be called after MPI_Comm_set_name.
void rename_communicator(Handle comm);

}  // namespace profshim::mpi
