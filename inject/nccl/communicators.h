// The NCCL communicators of this process: an identity that is equal on all ranks, this rank's number, and the number of
// collectives so far. The table is kept from activation on, recording or not, because all ranks must count alike.
// Any thread; lock-free. A communicator whose creation was not seen is queried once through NCCL's own functions.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi.h"
#include "growth.h"
#include "inject/core/sequence.h"
#include "profshim/event.h"

namespace profshim::nccl {

inline constexpr std::int32_t kUnknown = -1;

/// An entry of the table: one cache line with everything that a collective needs.
struct alignas(64) Communicator {
  std::atomic<Handle> handle{0};
  std::uint64_t identity = 0;  // equal on all ranks of the communicator, different for each communicator; 0 = unknown
  std::uint32_t id = 0;        // Definition id
  std::uint32_t parent = 0;    // Definition id
  std::atomic<std::int32_t> size{kUnknown}, rank{kUnknown}, device{kUnknown};
  StringId name = 0;
  std::atomic<std::uint32_t> sequence{0};  // collectives so far
  std::atomic<std::uint32_t> splits{0};    // calls of ncclCommSplit and ncclCommGrow so far
  std::atomic<std::uint32_t> shrinks{0};   // calls of ncclCommShrink so far
  std::atomic<bool> defined{false};
  std::atomic<bool> queried{false};
  bool from_nvtx = false;  // the handle is NCCL's hash of the communicator: it cannot be queried
  Magic magic = 0;         // see growth.h
};
static_assert(sizeof(Communicator) == 64);

/// The first Definition id of an NCCL communicator. Ids of MPI communicators are below.
inline constexpr std::uint32_t kFirstId = 1u << 30;

/// The properties of a communicator that are known when it is created.
struct CommunicatorInfo {
  std::uint64_t identity = 0;
  std::uint32_t parent = 0;
  std::int32_t size = kUnknown, rank = kUnknown, device = kUnknown;
  StringId name = 0;
  Magic magic = 0;
};

// ---- identities: equal on all ranks of one communicator

/// Returns the identity of a communicator created from `count` unique ids.
std::uint64_t identity_of_ids(const void* ids, int count, int ranks);
/// Returns the identity of the communicators of the next ncclCommInitAll of this process.
std::uint64_t next_clique_identity(int ranks);
/// Counts a split of `parent` and returns its identity. Call it also on a rank that gets no communicator.
std::uint64_t next_split_identity(Communicator& parent, int color);
/// Counts a shrink of `parent` and returns its identity.
std::uint64_t next_shrink_identity(Communicator& parent, const int* excluded, int count);
/// The communicator that results from ncclCommGrow.
struct Growth {
  std::uint64_t identity;
  Magic magic;
  bool matched;  // false: this rank's identity probably differs from that of other ranks
};
/// Counts a growth of `parent`. `parent` is null on a rank that is added. `id` is the unique id of the growth on new
/// ranks and on the rank that hands it out; null on the others.
Growth next_growth(Communicator* parent, const void* id, int ranks);
/// NVTX ranges name a communicator by NCCL's hash of it. Turns that hash into a handle that equals no address; 0 =
/// none.
constexpr Handle handle_of_hash(std::uint64_t hash) { return hash == 0 ? 0 : hash | std::uint64_t{1} << 63; }
constexpr bool is_hash(Handle handle) { return handle >> 63 != 0; }
std::uint64_t identity_of_hash(Handle handle);

/// Returns the interned default name of a communicator, such as "split of init". `parent` may be null.
StringId origin_text(const char* made, const Communicator* parent);

/// Adds a communicator and replaces an entry with the same handle. Returns null for handle 0 or if the table is full.
Communicator* add_communicator(Handle handle, const CommunicatorInfo& info, bool from_nvtx = false);
/// Call this when a creating call has returned and NCCL will store the handle at `address` later: inside a group, or
/// for a non-blocking communicator.
void add_when_stored(const void* address, const CommunicatorInfo& info);
/// Call this at the end of the outermost group: adds the communicators whose handles NCCL has stored for this thread.
void add_stored_communicators();

/// Returns null for handle 0 or if the table is full.
Communicator* find_or_add_communicator(Handle comm);
/// Returns the sequence number of the collective that begins now on `comm`: 1, 2, ...
inline std::uint32_t next_sequence(Communicator& comm) { return inject::next_sequence(comm.sequence); }
/// Returns the number of ranks. Queries NCCL once if it is unknown; kUnknown if NCCL does not tell.
std::int32_t size_of(Communicator& comm);
/// Returns the Definition id. Writes the definition into the spool at the first call.
std::uint32_t defined_id(Communicator& comm);

/// Removes the handle from the table. Returns the entry for restore_communicator(), in case the real function fails.
Communicator* remove_communicator(Handle comm);
void restore_communicator(Communicator* comm, Handle handle);

}  // namespace profshim::nccl
