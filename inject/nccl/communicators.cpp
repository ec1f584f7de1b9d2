#include "communicators.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "inject/core/communicators.h"
#include "inject/core/handle_table.h"
#include "inject/core/loader/resolve.h"
#include "profshim/recorder_control.h"

namespace profshim::nccl {
namespace {

constinit inject::HandleTable<Communicator, 4096> table;
constinit std::atomic<std::uint32_t> last_id{kFirstId - 1};
constinit std::atomic<std::uint32_t> cliques{0};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of_bytes(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0x70726f667368696dull;
  const auto* const at = static_cast<const char*>(data);
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, at + i, sizeof word);
    hash = mix(hash, word);
  }
  return hash;
}

Communicator* claim(Handle handle) {
  Communicator* const entry = table.claim(handle);
  if (entry == nullptr) {
    recorder::missing(
        "nccl",
        "more than 4096 NCCL communicators at a time: calls on further communicators show no communicator (free unused "
        "ones with ncclCommDestroy)");
  }
  return entry;
}

std::int32_t query(const char* function, Handle comm) {
  auto* const real = reinterpret_cast<int (*)(void*, int*)>(inject::resolve(function, Layer::kNccl));
  int value = kUnknown;
  return real != nullptr && real(reinterpret_cast<void*>(comm), &value) == kSuccess ? value : kUnknown;
}

void query_if_unknown(std::atomic<std::int32_t>& value, const char* function, Handle comm) {
  if (value.load(std::memory_order_relaxed) == kUnknown) value.store(query(function, comm), std::memory_order_relaxed);
}

void query_once(Communicator& comm) {
  if (comm.from_nvtx || comm.queried.load(std::memory_order_relaxed) ||
      comm.queried.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  const Handle handle = comm.handle.load(std::memory_order_relaxed);
  query_if_unknown(comm.size, "ncclCommCount", handle);
  query_if_unknown(comm.rank, "ncclCommUserRank", handle);
  query_if_unknown(comm.device, "ncclCommCuDevice", handle);
}

struct Awaited {
  std::atomic<const void*> address{nullptr};  // where NCCL stores the handle; kTaken while a thread uses the entry
  CommunicatorInfo info;                      // only for the thread that set kTaken
  std::atomic<std::int32_t> tid{0};
};
constexpr std::size_t kMaxAwaited = 64;
constinit Awaited awaited[kMaxAwaited];
constinit std::atomic<std::uint32_t> awaited_count{0};
const void* const kTaken = &awaited;

std::int32_t this_tid() {
  const spool::Thread* const thread = recorder::known_thread();
  return thread != nullptr ? thread->tid.load(std::memory_order_relaxed) : 0;
}

/// Returns 0 if nothing is stored yet, or if the address is unmapped by now.
Handle stored_at(const void* address) {
  Handle value = 0;
  iovec here{&value, sizeof value}, there{const_cast<void*>(address), sizeof value};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof value) ? value : 0;
}

/// Adds communicators whose handles NCCL has stored: all of this thread (`own_only`), or the one with handle `wanted`,
/// which is returned.
Communicator* add_awaited(bool own_only, Handle wanted) {
  if (awaited_count.load(std::memory_order_acquire) == 0) return nullptr;
  Communicator* found = nullptr;
  const std::int32_t tid = this_tid();
  for (Awaited& entry : awaited) {
    const void* address = entry.address.load(std::memory_order_acquire);
    if (address == nullptr || address == kTaken) continue;
    if (own_only ? entry.tid.load(std::memory_order_relaxed) != tid : stored_at(address) != wanted) continue;
    if (!entry.address.compare_exchange_strong(address, kTaken, std::memory_order_acquire)) continue;
    const Handle handle = stored_at(address);
    // The entry may have been reused for the same address.
    const bool is_others = own_only && entry.tid.load(std::memory_order_relaxed) != tid;
    if (handle == 0 || is_others) {
      entry.address.store(address, std::memory_order_release);
      continue;
    }
    // If the table has this handle already, the job has stored another communicator's handle at the address.
    Communicator* const made = table.find(handle) == nullptr ? add_communicator(handle, entry.info) : nullptr;
    if (handle == wanted) found = made;
    entry.address.store(nullptr, std::memory_order_release);
    awaited_count.fetch_sub(1, std::memory_order_relaxed);
  }
  return found;
}

void define(Communicator& comm) {
  query_once(comm);
  const std::int32_t size = comm.size.load(std::memory_order_relaxed), rank = comm.rank.load(std::memory_order_relaxed);
  recorder::define(
      spool::DefinitionKind::kCommunicator, comm.id, comm.name, inject::world_ranks_text(size, rank),
      {static_cast<std::int64_t>(comm.identity), std::max(size, 0), rank, comm.parent,
       static_cast<std::int64_t>(spool::CommunicatorBackend::kNccl), comm.device.load(std::memory_order_relaxed)});
}

}  // namespace

std::uint64_t identity_of_ids(const void* ids, int count, int ranks) {
  if (ids == nullptr || count < 1) return 0;
  return mix(hash_of_bytes(ids, static_cast<std::size_t>(count) * sizeof(UniqueId)), static_cast<std::uint32_t>(ranks));
}

std::uint64_t next_clique_identity(int ranks) {
  const std::uint64_t number = cliques.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t process = mix(static_cast<std::uint64_t>(getpid()), recorder::header().pid_start_time);
  return mix(mix(process, number), static_cast<std::uint32_t>(ranks));
}

std::uint64_t next_split_identity(Communicator& parent, int color) {
  const std::uint64_t number = parent.splits.fetch_add(1, std::memory_order_relaxed) + 1;
  return parent.identity == 0 ? 0 : mix(mix(parent.identity, number), static_cast<std::uint32_t>(color));
}

std::uint64_t next_shrink_identity(Communicator& parent, const int* excluded, int count) {
  // A sum, because processes may list the excluded ranks in any order.
  std::uint64_t sum = 0;
  for (int i = 0; excluded != nullptr && i < count; ++i) sum += mix(0x73, static_cast<std::uint32_t>(excluded[i]));
  const std::uint64_t number = parent.shrinks.fetch_add(1, std::memory_order_relaxed) + 1;
  return parent.identity == 0 ? 0 : mix(mix(mix(parent.identity, 0x736872696e6bull), number), sum);
}

Growth next_growth(Communicator* parent, const void* id, int ranks) {
  constexpr std::uint64_t kGrowth = 0x67726f77;
  const auto size = static_cast<std::uint32_t>(ranks);
  const Magic of_id = magic_of_id(id);
  if (parent == nullptr) return {of_id == 0 ? 0 : mix(mix(kGrowth, of_id), size), of_id, of_id != 0};
  const std::uint64_t number = parent->splits.fetch_add(1, std::memory_order_relaxed) + 1;
  if (parent->magic == 0) {  // the parent was split off, or not seen when created
    return {parent->identity == 0 ? 0 : mix(mix(mix(parent->identity, kGrowth), number), size), of_id, false};
  }
  const Magic magic = magic_of_growth(parent->magic, number);
  return {mix(mix(kGrowth, magic), size), magic, id == nullptr || of_id == magic};
}

std::uint64_t identity_of_hash(Handle handle) { return mix(0x6e766c78ull, handle); }

StringId origin_text(const char* made, const Communicator* parent) {
  const std::string_view from = parent != nullptr ? recorder::text_of(parent->name) : std::string_view{};
  if (from.empty()) return recorder::intern(made);
  char text[160];
  const int n = std::snprintf(text, sizeof text, "%s of %.*s", made, static_cast<int>(from.size()), from.data());
  return recorder::intern({text, std::min(static_cast<std::size_t>(n), sizeof text - 1)});
}

Communicator* add_communicator(Handle handle, const CommunicatorInfo& info, bool from_nvtx) {
  if (handle == 0) return nullptr;
  remove_communicator(handle);
  Communicator* const entry = claim(handle);
  if (entry == nullptr) return nullptr;
  entry->identity = info.identity;
  entry->id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  entry->parent = info.parent;
  entry->size.store(info.size, std::memory_order_relaxed);
  entry->rank.store(info.rank, std::memory_order_relaxed);
  entry->device.store(info.device, std::memory_order_relaxed);
  entry->name = info.name;
  entry->sequence.store(0, std::memory_order_relaxed);
  entry->splits.store(0, std::memory_order_relaxed);
  entry->shrinks.store(0, std::memory_order_relaxed);
  entry->defined.store(false, std::memory_order_relaxed);
  entry->queried.store(false, std::memory_order_relaxed);
  entry->from_nvtx = from_nvtx;
  entry->magic = info.magic;
  table.publish(*entry, handle);
  return entry;
}

void add_when_stored(const void* address, const CommunicatorInfo& info) {
  for (Awaited& entry : awaited) {
    const void* free = nullptr;
    if (!entry.address.compare_exchange_strong(free, kTaken, std::memory_order_acquire)) continue;
    entry.info = info;
    entry.tid.store(this_tid(), std::memory_order_relaxed);
    entry.address.store(address, std::memory_order_release);
    awaited_count.fetch_add(1, std::memory_order_release);
    return;
  }
  // No free entry: the communicator is queried at first use.
}

void add_stored_communicators() { add_awaited(true, 0); }

Communicator* find_or_add_communicator(Handle comm) {
  if (comm == 0) return nullptr;
  if (Communicator* const known = table.find(comm)) return known;
  if (is_hash(comm)) {
    return add_communicator(
        comm, {identity_of_hash(comm), 0, kUnknown, kUnknown, kUnknown, recorder::intern("communicator")}, true);
  }
  if (Communicator* const stored = add_awaited(false, comm)) return stored;
  return add_communicator(comm, {0, 0, kUnknown, kUnknown, kUnknown, recorder::intern("communicator")});
}

std::int32_t size_of(Communicator& comm) {
  if (comm.size.load(std::memory_order_relaxed) == kUnknown) query_once(comm);
  return comm.size.load(std::memory_order_relaxed);
}

std::uint32_t defined_id(Communicator& comm) {
  if (__builtin_expect(!comm.defined.load(std::memory_order_relaxed), 0) &&
      !comm.defined.exchange(true, std::memory_order_relaxed)) {
    define(comm);
  }
  return comm.id;
}

Communicator* remove_communicator(Handle comm) { return comm != 0 ? table.remove(comm) : nullptr; }

void restore_communicator(Communicator* comm, Handle handle) {
  if (comm != nullptr) table.restore(*comm, handle);
}

}  // namespace profshim::nccl
