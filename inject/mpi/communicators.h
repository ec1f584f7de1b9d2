// The communicators of this process: who is in them, which is which on another rank, and how many collectives they have
// seen. Kept from activation on, recorded or not: all ranks must count alike.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi.h"
#include "profshim/event.h"

namespace profshim::mpi {

/// One cache line: an entry of the table and everything a collective needs.
struct alignas(64) Communicator {
  std::atomic<std::uint64_t> handle{0};
  std::uint64_t identity = 0;  // the same on all members, different for every communicator ever made of them
  std::uint32_t id = 0;        // Definition id; 1 = MPI_COMM_WORLD, 2 = MPI_COMM_SELF
  std::uint32_t parent = 0;
  std::int32_t size = 0;                   // of the own group
  std::int32_t peers = 0;                  // whom an all-to-all sends to: size, or that of the remote group
  std::int32_t rank = 0;                   // own rank in it, or kNone32
  StringId name = 0;                       // how it came about, until it is asked for its name
  std::atomic<std::uint32_t> sequence{0};  // collectives so far
  std::atomic<std::uint32_t> created{0};   // communicators made of it so far
  std::atomic<std::int32_t> neighbors{0};  // whom a neighbourhood all-to-all sends to; -1 = not asked yet
  std::atomic<bool> defined{false};
};
static_assert(sizeof(Communicator) == 64);

/// MPI_COMM_WORLD and MPI_COMM_SELF; after detect_abi().
void define_predefined_communicators();

/// Never seen before: registered now. Null for MPI_COMM_NULL and when the table is full. Any thread.
Communicator* communicator_of(Handle comm);

/// The number of the collective that begins now on `comm`: 1, 2, ...
inline std::uint32_t next_sequence(Communicator& comm) {
  // Collectives on one communicator must not overlap, so nobody else counts at the same time.
  const std::uint32_t number = comm.sequence.load(std::memory_order_relaxed) + 1;
  comm.sequence.store(number, std::memory_order_relaxed);
  return number;
}

/// The Definition id of `comm`, defined at its first use in a recorded event.
std::uint32_t defined_id(Communicator& comm);

/// How many neighbors an MPI_Neighbor_alltoall of this process sends to.
int neighbors_of(Communicator& comm);

/// `made` = "dup", "split", ...: a collective over `parent` has returned `created` (MPI_COMM_NULL on those left out,
/// who must count it as well). `parent` null: made of groups; `tag` tells apart what was made of the same members.
void communicator_created(Communicator* parent, Handle created, const char* made);
void communicator_created_by_members(Communicator* parent, Handle created, const char* made, std::uint64_t tag);
/// The same members as `parent`, and not to be asked yet (MPI_Comm_idup before its completion).
void communicator_duplicating(Communicator& parent, Handle created, const char* made);

namespace detail {
extern thread_local constinit Communicator* last_counted __attribute__((tls_model("initial-exec")));
void count_on_another(Handle comm);
}  // namespace detail

/// A collective on `comm` that is not recorded. Nearly always the communicator is that of the thread's last one.
inline void count_collective(Handle comm) {
  Communicator* const last = detail::last_counted;
  if (__builtin_expect(last != nullptr && last->handle.load(std::memory_order_acquire) == comm, 1)) {
    next_sequence(*last);
  } else {
    detail::count_on_another(comm);
  }
}

/// Takes the handle out of the table; what put_back() needs if the real function then fails.
Communicator* forget_communicator(Handle comm);
void put_back(Communicator* comm, Handle handle);
/// MPI_Comm_set_name has been called.
void communicator_renamed(Handle comm);

}  // namespace profshim::mpi
