// NCCL communicators, tracked outside windows too: all ranks must number collectives equally. Lock-free; any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "abi.h"
#include "growth.h"
#include "inject/core/communicators.h"
#include "profshim/event.h"

namespace profshim::nccl {

inline constexpr std::int32_t kUnknown = -1;

/// A collective touches only this cache line.
struct alignas(64) Communicator {
  std::atomic<Handle> handle{0};
  std::uint64_t identity = 0;  // equal on all ranks, unique; 0 = unknown
  std::uint32_t id = 0;
  std::uint32_t parent = 0;
  std::atomic<std::int32_t> size{kUnknown}, rank{kUnknown}, device{kUnknown};
  StringId name = 0;
  std::atomic<std::uint32_t> sequence{0};
  std::atomic<std::uint32_t> splits{0};  // splits and growths so far
  std::atomic<std::uint32_t> shrinks{0};
  std::atomic<bool> defined{false};
  std::atomic<bool> queried{false};
  bool from_nvtx = false;  // the handle is NCCL's hash and cannot be queried
  Magic magic = 0;
};
static_assert(sizeof(Communicator) == 64);

/// Ids of MPI communicators are smaller.
inline constexpr std::uint32_t kFirstId = 1u << 30;

struct CommunicatorInfo {
  std::uint64_t identity = 0;
  std::uint32_t parent = 0;
  std::int32_t size = kUnknown, rank = kUnknown, device = kUnknown;
  StringId name = 0;
  Magic magic = 0;
};

std::uint64_t identity_of_ids(const void* ids, int count, int ranks);
/// Identifies the communicators of the next ncclCommInitAll.
std::uint64_t next_clique_identity(int ranks);
/// Counts the split: call even if this rank gets no communicator.
std::uint64_t next_split_identity(Communicator& parent, int color);
std::uint64_t next_shrink_identity(Communicator& parent, const int* excluded, int count);
struct Growth {
  std::uint64_t identity;
  Magic magic;
  bool matched;  // false: other ranks probably have another identity
};
/// `parent`: null on an added rank. `id`: the growth's unique id on added ranks and the rank that hands it out; else
/// null.
Growth next_growth(Communicator* parent, const void* id, int ranks);
/// NVTX ranges name a communicator by NCCL's hash. Returns a handle that equals no address; 0 = none.
constexpr Handle handle_of_hash(std::uint64_t hash) { return hash == 0 ? 0 : hash | std::uint64_t{1} << 63; }
constexpr bool is_hash(Handle handle) { return handle >> 63 != 0; }
std::uint64_t identity_of_hash(Handle handle);

/// Returns text such as "split of init".
StringId origin_text(const char* made, const Communicator* parent);

/// Replaces an entry with this handle.
Communicator* add_communicator(Handle handle, const CommunicatorInfo& info, bool from_nvtx = false);
/// Remembers a communicator whose handle NCCL stores at `address` later: in a group, or if non-blocking.
void add_when_stored(const void* address, const CommunicatorInfo& info);
/// Adds this thread's communicators whose handles NCCL has stored. Call at the end of the outermost group.
void add_stored_communicators();

/// Returns null for handle 0, and for new handles beyond 4096 communicators.
Communicator* find_or_add_communicator(Handle comm);
inline std::uint32_t next_sequence(Communicator& comm) { return inject::next_sequence(comm.sequence); }
/// kUnknown if NCCL cannot tell.
std::int32_t size_of(Communicator& comm);
std::uint32_t defined_id(Communicator& comm);

/// Keep the result for restore_communicator(), in case the real function fails.
Communicator* remove_communicator(Handle comm);
void restore_communicator(Communicator* comm, Handle handle);

}  // namespace profshim::nccl
