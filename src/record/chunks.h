#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "profshim/spool/format.h"
#include "recorder_state.h"
#include "spare_runs.h"

namespace profshim::recorder {

inline spool::ChunkHeader& chunk(std::uint32_t i) {
  return *reinterpret_cast<spool::ChunkHeader*>(state.chunks + std::size_t{i} * spool::kChunkBytes);
}
inline spool::RunHeader& run_at(std::uint32_t i, std::uint32_t slot) {
  return *reinterpret_cast<spool::RunHeader*>(state.chunks + std::size_t{i} * spool::kChunkBytes +
                                              slot * sizeof(Event));
}
inline Event* events_of(spool::RunHeader& run) { return reinterpret_cast<Event*>(&run) + 1; }

/// Calls function(events, count) for the runs of chunk `i`. Acquire pairs with publish() and cut().
template <class Function>
void for_each_run(std::uint32_t i, const Function& function) {
  for (std::uint32_t slot = 1; slot < spool::kSlotsPerChunk;) {
    spool::RunHeader& run = run_at(i, slot);
    const std::uint32_t room = std::min(run.room.load(std::memory_order_acquire), spool::kSlotsPerChunk - slot - 1);
    function(events_of(run), std::min(run.count.load(std::memory_order_acquire), room));
    slot += 1 + room;
  }
}

void free_chunk(std::uint32_t i);
std::uint32_t take_free_chunk();
std::uint32_t free_chunks_now();
/// Empties the list of sealed chunks and returns the newest; ChunkHeader::next links to older ones.
std::uint32_t take_sealed_chunks();

/// Ends the run of `t`, the calling thread. Seals the chunk if no thread has or may get another run of it.
void seal_current(spool::Thread& t);
/// Offers the rest of the run to other threads. Called when `t`, the calling thread, ends.
void leave_rest(spool::Thread& t);
std::uint64_t committed_in_sealed_runs();
/// For a new spool, while no thread records.
void reset_runs(std::uint32_t chunks);

/// For a new spool.
void reset_chunk_pool(std::uint32_t chunks);

}  // namespace profshim::recorder
