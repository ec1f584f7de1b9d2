// Chunks and the runs in them: how a thread takes a run for its events and leaves it.
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

/// Calls `function(events, count)` for each run of a chunk. The acquire loads pair with the release stores of publish()
/// and cut().
template <class Function>
void for_each_run(std::uint32_t i, const Function& function) {
  for (std::uint32_t slot = 1; slot < spool::kSlotsPerChunk;) {
    spool::RunHeader& run = run_at(i, slot);
    const std::uint32_t room = std::min(run.room.load(std::memory_order_acquire), spool::kSlotsPerChunk - slot - 1);
    function(events_of(run), std::min(run.count.load(std::memory_order_acquire), room));
    slot += 1 + room;
  }
}

/// Puts a chunk on the free list.
void free_chunk(std::uint32_t i);
/// Takes a chunk from the free list; kNoChunk if it is empty.
std::uint32_t take_free_chunk();
/// Returns the length of the free list.
std::uint32_t free_chunks_now();
/// Empties the list of sealed chunks and returns its head: the chunk sealed last, linked by ChunkHeader::next.
std::uint32_t take_sealed_chunks();

/// The thread gives up its run; the chunk is sealed if no other thread uses it. The thread itself.
void seal_current(spool::Thread& t);
/// The thread ends: leaves the unused rest of its run for another thread. The thread itself.
void leave_rest(spool::Thread& t);
/// Returns the number of events in runs that their threads have given up.
std::uint64_t committed_in_sealed_runs();
/// Empties all lists, for a new spool of `chunks` chunks. No thread may record.
void reset_runs(std::uint32_t chunks);

}  // namespace profshim::recorder
