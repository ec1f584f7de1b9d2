// The NCCL communicators of this process: which is which on another rank, this rank's place in them, and how many
// collectives they have seen. Kept from activation on, recorded or not: all ranks must count alike. Any thread; no
// locks; NCCL is asked at the first sight of a communicator that was not seen being made.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi.h"
#include "growth.h"
#include "profshim/event.h"

namespace profshim::nccl {

inline constexpr std::int32_t kUnknown = -1;

/// One cache line: an entry of the table and everything a collective needs.
struct alignas(64) Communicator {
  std::atomic<Handle> handle{0};
  std::uint64_t identity = 0;  // the same on all members, different for every communicator; 0 = not known
  std::uint32_t id = 0;        // Definition id; apart from MPI's
  std::uint32_t parent = 0;    // Definition id
  std::atomic<std::int32_t> size{kUnknown}, rank{kUnknown}, device{kUnknown};
  StringId name = 0;
  std::atomic<std::uint32_t> sequence{0};  // collectives so far
  std::atomic<std::uint32_t> splits{0};    // calls of ncclCommSplit and ncclCommGrow so far
  std::atomic<std::uint32_t> shrinks{0};   // of ncclCommShrink
  std::atomic<bool> defined{false};
  std::atomic<bool> asked{false};
  bool from_nvtx = false;  // the handle is NCCL's own hash of it: there is nobody to ask
  Magic magic = 0;         // that its growths are made of
};
static_assert(sizeof(Communicator) == 64);

/// The Definition ids of NCCL's communicators begin here; below are MPI's.
inline constexpr std::uint32_t kFirstId = 1u << 30;

/// What is known of a communicator when it is made.
struct Facts {
  std::uint64_t identity = 0;
  std::uint32_t parent = 0;
  std::int32_t size = kUnknown, rank = kUnknown, device = kUnknown;
  StringId name = 0;
  Magic magic = 0;
};

/// ---- identities: equal on all members of one communicator
std::uint64_t identity_of_ids(const void* ids, int count, int ranks);
/// The next ncclCommInitAll of this process.
std::uint64_t identity_of_clique(int ranks);
/// Counts the split on `parent`, also for a rank that gets no communicator.
std::uint64_t identity_of_split(Communicator& parent, int colour);
std::uint64_t identity_of_shrink(Communicator& parent, const int* excluded, int count);
/// Counts the growth on `parent`, where this rank was before; null for a rank that is added. `id`: of the growth, for
/// new ranks and for the one that hands it out. Identity and magic of what comes of it; `matched`: does it not look as
/// if the others took it for another one?
struct Growth {
  std::uint64_t identity;
  Magic magic;
  bool matched;
};
Growth growth_of(Communicator* parent, const void* id, int ranks);
/// A communicator that NVTX ranges speak of is known by NCCL's own hash of it: a handle that is no address. 0 = none.
constexpr Handle handle_of_hash(std::uint64_t hash) { return hash == 0 ? 0 : hash | std::uint64_t{1} << 63; }
constexpr bool is_hash(Handle handle) { return handle >> 63 != 0; }
std::uint64_t identity_of_hash(Handle handle);

/// "split 1 of init"; `parent` may be null.
StringId origin_text(const char* made, const Communicator* parent);

/// Enters a communicator; what was known under that handle is forgotten. Null for handle 0 and when the table is full.
Communicator* add_communicator(Handle handle, const Facts& facts, bool from_nvtx = false);
/// The call has returned and NCCL will store the handle at `address` later (inside a group, or non-blocking).
void add_when_stored(const void* address, const Facts& facts);
/// The outermost group of this thread has ended: what NCCL has stored by now.
void take_stored();

/// Null for handle 0 and when the table is full.
Communicator* communicator_of(Handle comm);
/// The number of the collective that begins now on `comm`: 1, 2, ...
inline std::uint32_t next_sequence(Communicator& comm) {
  // Collectives on one communicator must not overlap, so nobody else counts at the same time.
  const std::uint32_t number = comm.sequence.load(std::memory_order_relaxed) + 1;
  comm.sequence.store(number, std::memory_order_relaxed);
  return number;
}
/// Ranks in it; asks NCCL once when it is not known. kUnknown when NCCL does not say.
std::int32_t size_of(Communicator& comm);
/// The Definition id, defined at its first use in a recorded event.
std::uint32_t defined_id(Communicator& comm);

/// Takes the handle out of the table; what put_back() needs if the real function then fails.
Communicator* forget_communicator(Handle comm);
void put_back(Communicator* comm, Handle handle);

}  // namespace profshim::nccl
