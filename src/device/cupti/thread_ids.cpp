#include "thread_ids.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "profshim/base/process/memory_map.h"

namespace profshim::device {
namespace {

constexpr std::size_t kBlockBytes = 1536;  // searched part of a thread control block
constexpr std::size_t kSelfAt = 0x10;      // tcbhead_t::self (x86-64 ABI)
constexpr std::size_t kMostThreads = 4096;

// An unreadable address raises no fault.
bool read_own(std::uintptr_t address, void* into, std::size_t bytes) {
  const iovec local{into, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

// Unmapped bytes read as zeros.
[[maybe_unused]] void read_block(std::uintptr_t address, std::uint8_t (&block)[kBlockBytes]) {
  std::memset(block, 0, sizeof block);
  if (read_own(address, block, sizeof block)) return;
  const std::size_t to_page_end = 4096 - address % 4096;
  if (to_page_end < sizeof block) read_own(address, block, to_page_end);
}

}  // namespace

void SeenThreads::add_this_thread() {
  const auto raw = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pthread_self()));
  const auto tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  if (tid_of(raw) == static_cast<std::int32_t>(tid)) return;
  const std::uint32_t at = count_.fetch_add(1, std::memory_order_relaxed);
  seen_[at % kMost].store(std::uint64_t{raw} << 32 | tid, std::memory_order_release);
}

std::int32_t SeenThreads::tid_of(std::uint32_t raw_thread) const {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t back = 1; back <= std::min(count, kMost); ++back) {
    const std::uint64_t seen = seen_[(count - back) % kMost].load(std::memory_order_acquire);
    if (seen >> 32 == raw_thread) return static_cast<std::int32_t>(seen);
  }
  return 0;
}

IdPlaces id_places_of_this_thread() {
  IdPlaces places;
#if defined(__x86_64__)
  static_assert(kBlockBytes == IdPlaces().size() * sizeof(std::int32_t));
  const auto tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  std::uint8_t block[kBlockBytes];
  read_block(reinterpret_cast<std::uintptr_t>(pthread_self()), block);
  for (std::size_t at = kSelfAt + sizeof(void*); at + sizeof tid <= sizeof block; at += sizeof tid) {
    std::int32_t value = 0;
    std::memcpy(&value, block + at, sizeof value);
    places[at / sizeof tid] = value == tid;
  }
#endif
  return places;
}

void ThreadIds::learn(const IdPlaces& of_a_thread) {
  places_ = known_threads_++ == 0 ? of_a_thread : places_ & of_a_thread;
  id_at_ = places_._Find_first() * sizeof(std::int32_t);
}

std::int32_t ThreadIds::tid_at(std::uintptr_t address) const {
  std::uintptr_t self = 0;
  if (!read_own(address + kSelfAt, &self, sizeof self) || self != address) return 0;
  std::int32_t tid = 0;
  if (!read_own(address + id_at_, &tid, sizeof tid) || tid <= 0) return 0;
  // The C library keeps blocks of ended threads for reuse, with the last id.
  return syscall(SYS_tgkill, getpid(), tid, 0) == 0 ? tid : 0;
}

void ThreadIds::read_maps() {
  maps_read_ = true;
  writable_.clear();
  each_mapping([this](const MemoryMapping& mapping) {
    if (mapping.is_readable && mapping.is_writable) writable_.push_back({mapping.begin, mapping.end});
  });
}

std::uintptr_t ThreadIds::find(std::uint32_t raw_thread) {
  if (!maps_read_) read_maps();
  constexpr std::uintptr_t kStep = std::uintptr_t{1} << 32;
  for (const Range& range : writable_) {
    std::uintptr_t candidate = (range.begin & ~(kStep - 1)) | raw_thread;
    if (candidate < range.begin) candidate += kStep;
    for (; candidate < range.end; candidate += kStep) {
      if (tid_at(candidate) != 0) return candidate;
    }
  }
  return 0;
}

std::int32_t ThreadIds::tid_of(std::uint32_t raw_thread) {
  const std::int32_t alive = of_living(raw_thread);
  return alive != 0 || seen_ == nullptr ? alive : seen_->tid_of(raw_thread);
}

std::int32_t ThreadIds::of_living(std::uint32_t raw_thread) {
  if (!learned() || raw_thread % alignof(void*) != 0) return 0;
  if (known_.size() > kMostThreads) known_.clear();
  Known& known = known_[raw_thread];
  if (known.fresh) return known.tid;
  known.fresh = true;
  known.tid = known.address != 0 ? tid_at(known.address) : 0;
  if (known.tid == 0) {
    known.address = find(raw_thread);
    known.tid = known.address != 0 ? tid_at(known.address) : 0;
  }
  return known.tid;
}

void ThreadIds::begin_batch() {
  for (auto& [raw, known] : known_) known.fresh = false;
  maps_read_ = false;
}

}  // namespace profshim::device
