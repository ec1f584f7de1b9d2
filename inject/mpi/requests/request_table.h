// Lock-free multimap from request handles to pending operations. Any thread, no allocation. Probes as
// core/handle_table.h does; `live` counts the entries of a home.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/mpi/abi.h"
#include "profshim/recorder.h"

namespace profshim::mpi::request_table {

inline constexpr std::uint32_t kSlots = 1u << 17;
inline constexpr std::uint64_t kFree = 0, kClaimed = 2;  // no request has these values

struct Slot {
  std::atomic<std::uint64_t> handle{kFree};
  std::atomic<std::uint64_t> entry{0};
  std::atomic<const void*> address{nullptr};  // of the request variable
};
struct Home {
  std::atomic<std::uint32_t> live{0}, reach{0};
};
inline constinit Slot slots[kSlots];
inline constinit Home homes[kSlots];

inline std::uint32_t home_of(Handle handle) {
  return static_cast<std::uint32_t>((handle * 0x9e3779b97f4a7c15ull) >> 47) % kSlots;
}

inline bool put(Handle handle, std::uint64_t entry, const void* address) {
  const std::uint32_t at = home_of(handle);
  Home& home = homes[at];
  // Equal handles fill consecutive slots: the first `live` slots are probably taken.
  for (std::uint32_t i = home.live.load(std::memory_order_relaxed); i < kSlots; ++i) {
    Slot& slot = slots[(at + i) % kSlots];
    std::uint64_t expected = kFree;
    if (slot.handle.load(std::memory_order_relaxed) != kFree ||
        !slot.handle.compare_exchange_strong(expected, kClaimed, std::memory_order_acquire)) {
      continue;
    }
    slot.entry.store(entry, std::memory_order_relaxed);
    slot.address.store(address, std::memory_order_relaxed);
    std::uint32_t reach = home.reach.load(std::memory_order_relaxed);
    while (reach <= i && !home.reach.compare_exchange_weak(reach, i + 1, std::memory_order_relaxed)) {
    }
    home.live.fetch_add(1, std::memory_order_relaxed);
    slot.handle.store(handle, std::memory_order_release);  // pairs with find(), take()
    return true;
  }
  recorder::missing("mpi", "more than 131072 pending requests: further non-blocking operations show only their start");
  return false;
}

/// Slot after the last match: a Waitall over equal handles continues the search there.
struct Cursor {
  Handle handle = 0;
  std::uint32_t at = 0;
};

struct Place {
  std::uint32_t slot = 0;
  std::uint64_t entry = 0;
};

inline Place find(Handle handle, const void* address, Cursor& cursor) {
  const std::uint32_t at = home_of(handle);
  const Home& home = homes[at];
  const std::uint32_t live = home.live.load(std::memory_order_relaxed);
  if (live == 0) return {};
  const std::uint32_t reach = home.reach.load(std::memory_order_relaxed);
  const std::uint32_t first = cursor.handle == handle && cursor.at < reach ? cursor.at : 0;
  Place found;
  std::uint32_t seen = 0;
  for (std::uint32_t n = 0; n < reach && seen < live; ++n) {
    const std::uint32_t i = first + n < reach ? first + n : first + n - reach;
    const Slot& slot = slots[(at + i) % kSlots];
    if (slot.handle.load(std::memory_order_acquire) != handle) continue;
    ++seen;
    const bool exact = slot.address.load(std::memory_order_relaxed) == address;
    if (found.entry != 0 && !exact) continue;
    found = {(at + i) % kSlots, slot.entry.load(std::memory_order_relaxed)};
    cursor = {handle, i + 1};
    if (exact) break;
  }
  return found;
}

inline bool take(const Place& place, Handle handle) {
  Slot& slot = slots[place.slot];
  std::uint64_t expected = handle;
  if (!slot.handle.compare_exchange_strong(expected, kClaimed, std::memory_order_acq_rel)) return false;
  if (slot.entry.load(std::memory_order_relaxed) != place.entry) {
    slot.handle.store(handle, std::memory_order_release);
    return false;
  }
  slot.handle.store(kFree, std::memory_order_release);
  homes[home_of(handle)].live.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

}  // namespace profshim::mpi::request_table

namespace profshim::mpi {

inline bool is_request(Handle request) { return request != abi().request_null && request != 0; }

}  // namespace profshim::mpi
