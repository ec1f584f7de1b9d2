// The cold side of the recorder: what session calls at activation, from the collector thread and at the end. The hot
// side is recorder.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profshim/memory_room.h"
#include "profshim/recorder.h"

namespace profshim::recorder {

struct SpoolSize {
  std::uint32_t chunks = 0;
  std::uint64_t arena_bytes = 0;
  std::uint32_t threads = spool::kMaxThreads, definitions = spool::kMaxDefinitions, pending = spool::kMaxPending;
};
/// What the writer holds beside what it needs for each event: its blocks, the compressing threads, the heap.
inline constexpr std::uint64_t kWriterBytes = 6ull << 20;
/// The least that limits.host_memory may be.
inline constexpr std::uint64_t kLeastMemory = 16ull << 20;
/// The budget below which there is no useful spool.
inline constexpr std::uint64_t kLeastRoom = 14ull << 20;
/// How a budget of memory is divided between the spool, the writer and what is beside them (the GPU part, tables of
/// inject/), which takes `other_bytes` of it; false when it is below kLeastRoom.
bool divide_memory(std::uint64_t host_memory, std::uint64_t other_bytes, SpoolSize& size);
/// All of a spool of that size: what it comes to when every page of it is used.
std::uint64_t spool_bytes(const SpoolSize& size);

/// Creates and maps the spool: a file, or anonymous memory where `path` is empty. False and a reason when that cannot
/// be had (no space, RLIMIT_AS, RLIMIT_FSIZE ...); nothing is left behind then. The mode stays 0.
bool create_spool(const std::string& path, const SpoolSize& size, std::string& why_not);
bool exists();
spool::SpoolHeader& header();
const char* data();
std::size_t size();
/// "" = anonymous memory.
const std::string& path();
/// tend_pool() asks `room`, which must outlive the recording, before the spool grows. After create_spool().
void watch_room(const MemoryRoom* room);

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
/// Events that threads have committed since the spool was made; a run that changes hands meanwhile may be missing.
std::uint64_t events_committed();

/// Collector thread only: moves sealed chunks onto the free list unless a window may need them, and keeps at least
/// `wanted_free` populated chunks on it as far as the pool reaches. Returns memory beyond four times that to the
/// system.
struct PoolState {
  std::uint32_t free = 0, held = 0, unused = 0;
  std::optional<Bound> refused_by;  // more was wanted, and this had no room
  std::optional<Bound> pressed_by;  // see Room
};
/// `keep_from` gives the begin of the oldest window that is not published (0 = there is none); it is asked after the
/// sealed chunks have been taken over, so that a chunk of a window that opens in between is not among them.
/// Makes at most 8 MiB ready in one call. Under pressure nearly all that is free goes back.
PoolState tend_pool(const std::function<Ticks()>& keep_from, std::uint32_t wanted_free);
/// limits.on_limit = "drop_old": frees the oldest sealed chunks; their events are counted as dropped.
void drop_oldest(std::uint32_t chunks);
/// When a thread first found no chunk since the last call; 0 = never. Resets.
Ticks take_first_drop();

/// A block of its own, with tid spool::kDeviceLane, for the one thread that brings in what CUPTI tells: it commits to
/// it as a thread of the job does to its own. Null when the table is full (counted) or nothing is recorded. Never
/// freed.
spool::Thread* device_lane();

/// For measuring what events cost: while it lives, the calling thread, which is none of the job's, commits to a block
/// and a run that are thrown away.
class ScratchThread {
 public:
  ScratchThread();
  ~ScratchThread();
  ScratchThread(const ScratchThread&) = delete;
  ScratchThread& operator=(const ScratchThread&) = delete;
  /// Nanoseconds that one call of `make_event` takes, which commits at most two events: the median of several rounds,
  /// since the thread may have to wait for a CPU in some. < 0: no memory was to be had.
  double cost_ns(const std::function<void()>& make_event);

 private:
  struct Memory;
  void rewind();
  Memory* memory_ = nullptr;
  spool::Thread* own_ = nullptr;  // the block that the thread had before
};
/// Nanoseconds an event costs from open_call() to end(), without whoever calls these.
double measure_event_cost_ns();

}  // namespace profshim::recorder
