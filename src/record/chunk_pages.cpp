// Runs on the collector thread, and before that thread starts.

#include <algorithm>
#include <functional>
#include <vector>

#include "chunks.h"
#include "profshim/recorder_control.h"
#include "recorder_state.h"
#include "spool_memory.h"

namespace profshim::recorder {

using spool::ChunkHeader;
using spool::ChunkState;
using spool::kChunkBytes;
using spool::kNoChunk;

namespace {

constinit std::uint32_t pool_chunks = 0;
constexpr std::uint32_t kPopulatedAtOnce = 128;  // 8 MiB, about 3 ms
constexpr std::uint32_t kKeptUnderPressure = 8;
constexpr std::int64_t kRoomValid_ns = 10'000'000;
constexpr std::int64_t kPressureValid_ns = 100'000'000;

const MemoryRoom* memory_room = nullptr;  // null = no bound
constinit Room last_room;
constinit std::int64_t room_read_ns = 0;
constinit std::uint64_t populated_chunks = 0;
std::vector<std::uint32_t>& held() {  // sealed chunks, oldest first
  static auto* const list = new std::vector<std::uint32_t>;
  return *list;
}
std::vector<std::uint32_t>& unused() {
  static auto* const list = new std::vector<std::uint32_t>;
  return *list;
}

// A thread records events in order of end: its run's last event is enough. CUPTI's records are unordered.
Ticks latest_end(std::uint32_t i) {
  const bool in_order = run_at(i, 1).tid != spool::kDeviceTid;
  Ticks latest = 0;
  for_each_run(i, [&](const Event* events, std::uint32_t count) {
    for (std::uint32_t k = in_order && count > 0 ? count - 1 : 0; k < count; ++k) {
      latest = std::max({latest, events[k].begin, events[k].end, Ticks{1}});
    }
  });
  return latest;
}

void collect_sealed() {
  std::uint32_t i = take_sealed_chunks();
  const std::size_t first = held().size();
  for (; i != kNoChunk; i = chunk(i).next.load(std::memory_order_relaxed)) {
    chunk(i).latest = latest_end(i);
    held().push_back(i);
  }
  std::reverse(held().begin() + static_cast<std::ptrdiff_t>(first), held().end());
}

// The writer's index of events adds a third.
constexpr std::uint64_t kBytesPerChunk = kChunkBytes / 3 * 4;

std::uint64_t held_bytes() {
  const auto tables = static_cast<std::uint64_t>(state.chunks - spool_memory::data()) - state.header->arena_bytes +
                      state.header->arena_used.load(std::memory_order_relaxed);
  return tables + kWriterBytes + populated_chunks * kBytesPerChunk;
}

// Reads the bounds rarely, since a read takes dozens of system calls.
Room look_for_room(std::uint32_t wanted_free) {
  if (memory_room == nullptr) return {~std::uint64_t{0}, Bound::kHostMemory};
  const bool grows = free_chunks_now() < wanted_free;
  const std::int64_t now = monotonic_ns();
  if (room_read_ns == 0 || now - room_read_ns > (grows ? kRoomValid_ns : kPressureValid_ns)) {
    room_read_ns = now;
    last_room = memory_room->now(held_bytes(), spool_memory::mapped());
  }
  return last_room;
}

void give_back_chunks(std::uint32_t kept) {
  while (free_chunks_now() > kept) {
    const std::uint32_t i = take_free_chunk();
    if (i == kNoChunk) return;
    char* const begin = reinterpret_cast<char*>(&chunk(i));
    // Keeps the page of the chunk's header: readers check the state there.
    if (!spool_memory::give_back(begin + sizeof(ChunkHeader), begin + kChunkBytes)) return free_chunk(i);
    chunk(i).state.store(ChunkState::kUnused, std::memory_order_relaxed);
    --populated_chunks;
    unused().push_back(i);
  }
}

}  // namespace

void watch_room(const MemoryRoom* room) { memory_room = room; }

PoolState tend_pool(const std::function<Ticks()>& oldest_needed, std::uint32_t wanted_free) {
  collect_sealed();
  const Ticks keep_from = oldest_needed();
  std::vector<std::uint32_t>& list = held();
  const auto kept = std::remove_if(list.begin(), list.end(), [keep_from](std::uint32_t i) {
    if (keep_from != 0 && chunk(i).latest >= keep_from) return false;
    free_chunk(i);
    return true;
  });
  list.erase(kept, list.end());

  PoolState result;
  const Room room = look_for_room(wanted_free);
  result.pressed_by = room.pressed_by;
  const auto wants_more = [wanted_free] { return free_chunks_now() < wanted_free && !unused().empty(); };
  std::uint64_t may_populate = kPopulatedAtOnce;
  if (wants_more()) {
    const std::uint64_t held = held_bytes();
    may_populate = std::min(may_populate, room.bytes > held ? (room.bytes - held) / kBytesPerChunk : 0);
    if (may_populate == 0) result.refused_by = room.bound;
  }
  while (wants_more() && may_populate-- > 0) {
    const std::uint32_t i = unused().back();
    const char* const end = reinterpret_cast<char*>(&chunk(i)) + kChunkBytes;
    const bool reached = spool_memory::reach(static_cast<std::uint64_t>(end - spool_memory::data()));
    if (!reached || !spool_memory::populate(&chunk(i), kChunkBytes)) {
      result.refused_by = !reached ? Bound::kAddressSpace : path().empty() ? Bound::kMachine : Bound::kFileSystem;
      break;
    }
    unused().pop_back();
    ++populated_chunks;
    std::atomic<std::uint32_t>& touched = state.header->chunk_count;
    if (i >= touched.load(std::memory_order_relaxed)) touched.store(i + 1, std::memory_order_release);
    free_chunk(i);
  }
  give_back_chunks(room.pressed_by ? kKeptUnderPressure : wanted_free * 4);
  result.free = free_chunks_now();
  result.held = static_cast<std::uint32_t>(list.size());
  result.unused = static_cast<std::uint32_t>(unused().size());
  return result;
}

void drop_oldest(std::uint32_t chunks) {
  collect_sealed();
  std::vector<std::uint32_t>& list = held();
  const std::size_t n = std::min<std::size_t>(chunks, list.size());
  for (std::size_t k = 0; k < n; ++k) {
    for_each_run(list[k], [](const Event*, std::uint32_t count) {
      state.header->dropped.fetch_add(count, std::memory_order_relaxed);
    });
    free_chunk(list[k]);
  }
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(n));
}

std::uint32_t chunks_in_pool() { return pool_chunks; }

void reset_chunk_pool(std::uint32_t chunks) {
  pool_chunks = chunks;
  memory_room = nullptr;
  room_read_ns = 0;
  populated_chunks = 0;
  held().clear();
  unused().clear();
  for (std::uint32_t i = chunks; i-- > 0;) unused().push_back(i);
}

}  // namespace profshim::recorder
