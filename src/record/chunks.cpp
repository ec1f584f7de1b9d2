#include "chunks.h"

#include <algorithm>
#include <cstring>

#include "free_list.h"
#include "profshim/recorder_control.h"

namespace profshim::recorder {

using spool::ChunkHeader;
using spool::ChunkState;
using spool::kEventsPerChunk;
using spool::kNoChunk;
using spool::RunHeader;
using spool::Thread;

namespace {

constinit std::atomic<std::uint64_t> free_chunks{kNoChunk};
constinit std::atomic<std::uint32_t> sealed_chunks{kNoChunk};
constinit std::atomic<std::uint32_t> free_count{0};
constinit SpareRuns spare_runs;
constinit std::atomic<std::uint64_t> events_in_sealed_runs{0};
constinit std::atomic<Ticks> first_drop{0};
constexpr std::uint32_t kFirstRun = 31;  // events; each later run of a thread is twice as long
constexpr std::uint32_t kLeastRun = 7;   // events; rests up to this size stay unused

constexpr auto kChunkNext = [](std::uint32_t i) -> std::atomic<std::uint32_t>& { return chunk(i).next; };

// acq_rel releases this thread's events and acquires those of the chunk's other threads.
void leave_chunk(std::uint32_t i) {
  ChunkHeader& c = chunk(i);
  if (c.users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  c.state.store(ChunkState::kSealed, std::memory_order_release);
  std::uint32_t head = sealed_chunks.load(std::memory_order_relaxed);
  do {
    c.next.store(head, std::memory_order_relaxed);
  } while (!sealed_chunks.compare_exchange_weak(head, i, std::memory_order_release, std::memory_order_relaxed));
}

// Ends the run after `room` events. Returns the rest, which the caller counts in ChunkHeader::users.
RunPlace cut(RunPlace run, std::uint32_t room) {
  const auto slot = static_cast<std::uint16_t>(run.slot + 1 + room);
  RunHeader& rest = run_at(run.chunk, slot);
  rest.count.store(0, std::memory_order_relaxed);
  rest.room.store(run.room - room - 1, std::memory_order_relaxed);
  // Release publishes the header of `rest`; pairs with for_each_run().
  run_at(run.chunk, run.slot).room.store(room, std::memory_order_release);
  return {run.chunk, slot, static_cast<std::uint16_t>(run.room - room - 1)};
}

bool is_of_this_spool(const Thread& t) {
  return &t >= state.threads && &t < state.threads + state.header->thread_count;
}

void give_away(RunPlace run) {
  if (!spare_runs.put(run)) leave_chunk(run.chunk);
}

// Clears live_count before events_in_sealed_runs grows (release): events_committed() then counts no run twice.
void forget_run(Thread& t) {
  t.live_count.store(nullptr, std::memory_order_release);
  events_in_sealed_runs.fetch_add(t.count->load(std::memory_order_relaxed), std::memory_order_release);
  t.count = &t.nowhere;
  t.chunk = kNoChunk;
}

}  // namespace

void seal_current(Thread& t) {
  if (t.chunk == kNoChunk) return;
  const std::uint32_t chunk_of_run = t.chunk;
  forget_run(t);
  leave_chunk(chunk_of_run);
}

void leave_rest(Thread& t) {
  if (t.chunk == kNoChunk) return;
  const RunHeader& header = *reinterpret_cast<RunHeader*>(t.count);
  const std::uint32_t room = header.room.load(std::memory_order_relaxed);
  const std::uint32_t count = std::min(header.count.load(std::memory_order_relaxed), room);
  if (room - count <= kLeastRun) return seal_current(t);
  const auto slot = (reinterpret_cast<const char*>(&header) - reinterpret_cast<const char*>(&chunk(t.chunk))) /
                    static_cast<std::ptrdiff_t>(sizeof(Event));
  const RunPlace run{t.chunk, static_cast<std::uint16_t>(slot), static_cast<std::uint16_t>(room)};
  forget_run(t);
  give_away(cut(run, count));
}

namespace {

RunPlace whole_chunk() {
  const std::uint32_t i = take_free_chunk();
  if (i == kNoChunk) return {};
  RunHeader& run = run_at(i, 1);
  run.count.store(0, std::memory_order_relaxed);
  run.room.store(kEventsPerChunk, std::memory_order_relaxed);
  chunk(i).users.store(1, std::memory_order_relaxed);
  chunk(i).state.store(ChunkState::kOwned, std::memory_order_release);
  return {i, 1, kEventsPerChunk};
}

// First runs are short, since most threads record few events.
RunPlace take_run(const Thread& t) {
  const std::uint32_t wanted = kFirstRun << std::min(t.runs, 8u);
  const bool of_device = t.tid.load(std::memory_order_relaxed) == spool::kDeviceTid;
  const bool whole = wanted >= kEventsPerChunk || of_device;
  RunPlace run = whole ? whole_chunk() : spare_runs.take();
  if (run.room == 0 && !of_device) run = whole ? spare_runs.take() : whole_chunk();
  if (!whole && run.room > wanted + 1 + kLeastRun) {
    chunk(run.chunk).users.fetch_add(1, std::memory_order_relaxed);
    give_away(cut(run, wanted));
    run.room = static_cast<std::uint16_t>(wanted);
  }
  return run;
}

}  // namespace

void free_chunk(std::uint32_t i) {
  chunk(i).state.store(ChunkState::kFree, std::memory_order_release);
  push(free_chunks, i, kChunkNext);
  free_count.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t take_free_chunk() {
  const std::uint32_t i = pop(free_chunks, kChunkNext);
  if (i != kNoChunk) free_count.fetch_sub(1, std::memory_order_relaxed);
  return i;
}

std::uint32_t free_chunks_now() { return free_count.load(std::memory_order_relaxed); }

std::uint32_t take_sealed_chunks() { return sealed_chunks.exchange(kNoChunk, std::memory_order_acquire); }

std::uint64_t committed_in_sealed_runs() { return events_in_sealed_runs.load(std::memory_order_acquire); }

void reset_runs(std::uint32_t chunks) {
  free_chunks = kNoChunk;
  sealed_chunks = kNoChunk;
  free_count = 0;
  first_drop = 0;
  spare_runs.reset(chunks);
  events_in_sealed_runs = 0;
}

bool detail::next_chunk(Thread& t) {
  if (!is_of_this_spool(t)) {
    // A child of clone() has left its parent's spool on another thread than this one.
    this_thread = nullptr;
    state.header->dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  seal_current(t);
  t.next = t.chunk_end = nullptr;
  const RunPlace place = take_run(t);
  if (place.room == 0) {
    t.dropped.store(t.dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    Ticks none = 0;
    if (first_drop.load(std::memory_order_relaxed) == 0) first_drop.compare_exchange_strong(none, ticks());
    return false;
  }
  ++t.runs;
  RunHeader& run = run_at(place.chunk, place.slot);
  run.thread = t.index;
  run.tid = t.tid.load(std::memory_order_relaxed);
  run.sequence = t.sequence.load(std::memory_order_relaxed);
  t.sequence.store(run.sequence + 1, std::memory_order_relaxed);
  std::memcpy(run.name, t.name, sizeof run.name);
  t.chunk = place.chunk;
  t.count = &run.count;
  t.live_count.store(&run.count, std::memory_order_release);
  t.next = events_of(run);
  t.chunk_end = t.next + place.room;
  return true;
}

Ticks take_first_drop() { return first_drop.exchange(0, std::memory_order_relaxed); }

}  // namespace profshim::recorder
