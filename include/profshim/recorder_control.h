// The cold side of the recorder: what session calls at activation, from the collector thread and at the end. The hot
// side is recorder.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profshim/recorder.h"

namespace profshim::recorder {

struct SpoolSize {
  std::uint32_t chunks = 0;
  std::uint64_t arena_bytes = 0;
  std::uint32_t threads = spool::kMaxThreads, definitions = spool::kMaxDefinitions, pending = spool::kMaxPending;
};
/// What the writer holds beside what it needs for each event: its blocks, the compressing threads, the heap.
inline constexpr std::uint64_t kWriterBytes = 6ull << 20;
/// The budget below which there is no useful spool.
inline constexpr std::uint64_t kLeastMemory = 16ull << 20;
/// How a budget of memory is divided between the spool, the writer and what is beside them (the GPU part, tables of
/// inject/), which takes `other_bytes` of it; false when it is below kLeastMemory.
bool divide_memory(std::uint64_t host_memory, std::uint64_t other_bytes, SpoolSize& size);
/// All of a spool of that size: what it comes to when every page of it is used.
std::uint64_t spool_bytes(const SpoolSize& size);

/// Bytes that a spool may still take from the file system of `path`: what is free, less what stays for the job, whose
/// MPI or data loaders may make shared memory there (a quarter of the file system, 256 MiB at most). 0 = not known.
std::uint64_t room_in(const std::string& path);

/// Creates and maps the spool. False and a reason when that cannot be had (no space, RLIMIT_AS, RLIMIT_FSIZE ...);
/// nothing is left behind then. The mode stays 0.
bool create_spool(const std::string& path, const SpoolSize& size, std::string& why_not);
bool exists();
spool::SpoolHeader& header();
const char* data();
std::size_t size();
const std::string& path();

void set_mode(std::uint32_t set, std::uint32_t clear);

/// In a forked child: forget the spool; every hook passes through for good.
void abandon_in_child();

/// One window from `begin` on; null when 1024 are waiting to be written.
spool::Window* open_window(Ticks begin, std::uint64_t first_mark);
/// Idempotent: the first caller decides the reason and the end.
void close_window(spool::Window& window, Ticks end, std::uint64_t end_mark, spool::WindowEnd why, StringId limit);
/// Running number of the new mark.
std::uint64_t add_mark(const spool::StepMark& mark);
void add_anchor(const Anchor& anchor);

/// Events lost so far, all threads.
std::uint64_t dropped();
/// Chunks that the budget allows. SpoolHeader::chunk_count is how many of them have ever had pages: nobody may read
/// beyond, since even reading a hole of a full file system raises SIGBUS.
std::uint32_t chunks_in_pool();
/// Events in chunks now (upper bound): for limits.
std::uint64_t events_held();

/// Collector thread only: moves sealed chunks onto the free list unless a window may need them, and keeps at least
/// `wanted_free` populated chunks on it as far as the pool reaches. Returns memory beyond four times that to the
/// system.
struct PoolState {
  std::uint32_t free = 0, held = 0, unused = 0;
  bool out_of_memory = false;  // the file system refused a page, or has no more room for us
};
/// `keep_from` gives the begin of the oldest window that is not published (0 = there is none); it is asked after the
/// sealed chunks have been taken over, so that a chunk of a window that opens in between is not among them.
/// Makes at most 32 MiB ready in one call, and at most a sixteenth of room_in() the spool.
PoolState tend_pool(const std::function<Ticks()>& keep_from, std::uint32_t wanted_free);
/// limits.on_limit = "drop_old": frees the oldest `count` sealed chunks; their events are counted as dropped.
void drop_oldest(std::uint32_t count);
/// When a thread first found no chunk since the last call; 0 = never. Resets.
Ticks take_first_drop();

/// A block of its own, with tid spool::kDeviceLane, for the one thread that brings in what CUPTI tells: it commits to
/// it as a thread of the job does to its own. Null when the table is full (counted) or nothing is recorded. Never
/// freed.
spool::Thread* device_lane();

/// Nanoseconds an event costs from open_call() to end(), measured on a scratch thread block that is thrown away.
double measure_event_cost_ns();

}  // namespace profshim::recorder
