#include "groups.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>

#include "activation.h"
#include "inject/core/communicators.h"
#include "inject/core/loader/resolve.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::torch {
namespace {

// Written under `mutex`. Collectives read without a lock.
struct Group {
  std::atomic<const void*> address{nullptr};
  int rank = -1, size = 0;
  char name[128] = "";  // "" before PyTorch 2.1
  bool is_defined = false;
};
constexpr std::size_t kMaxGroups = 1024;
constexpr std::uint32_t kFirstId = 1u << 31;  // MPI and NCCL use lower ids
constinit Group groups[kMaxGroups];
constinit std::atomic<std::size_t> group_count{0};
constinit std::mutex mutex;

Group* find(const void* address) {
  const std::size_t known = group_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < known; ++i) {
    if (groups[i].address.load(std::memory_order_relaxed) == address) return &groups[i];
  }
  return nullptr;
}

void note_group(const void* address, int rank, int size) {
  const std::lock_guard lock(mutex);
  Group* group = find(address);  // not null if an earlier group had this address
  if (group == nullptr) {
    const std::size_t next = group_count.load(std::memory_order_relaxed);
    if (next == kMaxGroups) return;
    group = &groups[next];
  }
  group->address.store(address, std::memory_order_relaxed);
  group->rank = rank;
  group->size = size;
  group->name[0] = 0;
  group->is_defined = false;
  if (group == &groups[group_count.load(std::memory_order_relaxed)])
    group_count.fetch_add(1, std::memory_order_release);
}

/// If only one group has several members, every collective uses that group. Otherwise returns null.
Group* only_group() {
  Group* found = nullptr;
  const std::size_t known = group_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < known; ++i) {
    if (groups[i].size < 2) continue;
    if (found != nullptr) return nullptr;
    found = &groups[i];
  }
  return found;
}

std::uint64_t hash_of(const Group& group) {
  std::uint64_t hash = 0xcbf29ce484222325ull ^ static_cast<std::uint32_t>(group.size);
  for (const char* at = group.name; *at != 0; ++at) hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3ull;
  return hash;
}

std::uint32_t define(Group& group) {
  const auto id = kFirstId + static_cast<std::uint32_t>(&group - groups);
  const std::lock_guard lock(mutex);
  if (group.is_defined) return id;
  group.is_defined = true;
  const bool is_first = &group == groups;
  if (group.name[0] == 0 && is_first) std::snprintf(group.name, sizeof group.name, "0");
  // Without a name, groups of one size look alike: identity 0 means unknown.
  const std::uint64_t identity = group.name[0] != 0 ? hash_of(group) : 0;
  recorder::define(spool::DefinitionKind::kCommunicator, id, recorder::intern(group.name),
                   inject::world_ranks_text(group.size, group.rank),
                   {static_cast<std::int64_t>(identity), group.size, group.rank, 0,
                    static_cast<std::int64_t>(spool::CommunicatorBackend::kTorch), -1});
  return id;
}

void on_group_made(const void* address, int rank, int size) {
  if (!session::requested()) return;
  const int saved_errno = errno;
  note_group(address, rank, size);
  if (recorder::mode() == 0) activate_as_member(rank, size);
  errno = saved_errno;
}

void on_group_named(const void* address, const char* name) {
  const std::lock_guard lock(mutex);
  Group* const group = find(address);
  if (group == nullptr) return;
  std::snprintf(group->name, sizeof group->name, "%s", name);
  group->is_defined = false;
}

}  // namespace

bool is_process_group(const void* address) { return address != nullptr && find(address) != nullptr; }

std::uint32_t group_id(const void* address) {
  Group* const group = address != nullptr ? find(address) : only_group();
  return group != nullptr && group->size > 0 ? define(*group) : 0;
}

void define_groups() {
  const std::size_t known = group_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < known; ++i) define(groups[i]);
}

void leave_parents_groups() {
  new (&mutex) std::mutex;  // a thread of the parent may have held it
  group_count = 0;
}

}  // namespace profshim::torch

// These functions hook c10d::ProcessGroup's constructors and setGroupName(). An intrusive_ptr argument is passed by
// address. Source: torch/csrc/distributed/c10d/ProcessGroup.hpp, 1.13 to 2.x.
#define EXPORT extern "C" [[gnu::visibility("default")]]
#define STORE "N3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEE"

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(profshim::inject::resolve(name, profshim::Layer::kTorch));
}

}  // namespace

#define CONSTRUCTOR(function, symbol)                                   \
  EXPORT void function(void* self, int rank, int size) __asm__(symbol); \
  void function(void* self, int rank, int size) {                       \
    static auto* const next = real<void(void*, int, int)>(symbol);      \
    if (next != nullptr) next(self, rank, size);                        \
    profshim::torch::on_group_made(self, rank, size);                   \
  }
#define STORE_CONSTRUCTOR(function, symbol)                                          \
  EXPORT void function(void* self, void* store, int rank, int size) __asm__(symbol); \
  void function(void* self, void* store, int rank, int size) {                       \
    static auto* const next = real<void(void*, void*, int, int)>(symbol);            \
    if (next != nullptr) next(self, store, rank, size);                              \
    profshim::torch::on_group_made(self, rank, size);                                \
  }
// Both ABIs of std::string begin with the characters' address.
#define SET_NAME(function, symbol)                                           \
  EXPORT void function(void* self, const char* const* name) __asm__(symbol); \
  void function(void* self, const char* const* name) {                       \
    static auto* const next = real<void(void*, const char* const*)>(symbol); \
    profshim::torch::on_group_named(self, *name);                            \
    if (next != nullptr) next(self, name);                                   \
  }
CONSTRUCTOR(profshim_c10d_group_complete, "_ZN4c10d12ProcessGroupC1Eii")
CONSTRUCTOR(profshim_c10d_group_base, "_ZN4c10d12ProcessGroupC2Eii")
STORE_CONSTRUCTOR(profshim_c10d_group_store_complete, "_ZN4c10d12ProcessGroupC1E" STORE "ii")
STORE_CONSTRUCTOR(profshim_c10d_group_store_base, "_ZN4c10d12ProcessGroupC2E" STORE "ii")
SET_NAME(profshim_c10d_group_name,
         "_ZN4c10d12ProcessGroup12setGroupNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")
SET_NAME(profshim_c10d_group_name_older, "_ZN4c10d12ProcessGroup12setGroupNameERKSs")
