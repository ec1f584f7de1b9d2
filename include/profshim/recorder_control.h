// The cold side of the recorder: the session calls it at activation, from the collector thread and at the end. The hot
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
/// Memory of the writer that does not grow with the number of events: its buffers, the compressing threads, the heap.
inline constexpr std::uint64_t kWriterBytes = 6ull << 20;
/// Lower bound of limits.host_memory.
inline constexpr std::uint64_t kLeastMemory = 16ull << 20;
/// Lower bound of the budget of divide_memory(); a smaller spool is useless.
inline constexpr std::uint64_t kLeastRoom = 14ull << 20;
/// Divides a memory budget between the spool, the writer and other users (the GPU part, tables of inject/), which take
/// `other_bytes` of it. Returns false if the budget is below kLeastRoom.
bool divide_memory(std::uint64_t host_memory, std::uint64_t other_bytes, SpoolSize& size);
/// Returns the size in bytes of a spool whose pages are all in use.
std::uint64_t spool_bytes(const SpoolSize& size);

/// Creates and maps the spool: a file, or anonymous memory if `path` is empty. Returns false and a reason on failure
/// (no space, RLIMIT_AS, RLIMIT_FSIZE, ...) and leaves nothing behind. The mode stays 0.
bool create_spool(const std::string& path, const SpoolSize& size, std::string& why_not);
bool exists();
spool::SpoolHeader& header();
const char* data();
std::size_t size();
/// Returns the path of the spool's file; "" = anonymous memory.
const std::string& path();
/// Makes tend_pool() ask `room` before the spool grows. `room` must outlive the recording. After create_spool().
void watch_room(const MemoryRoom* room);

/// Sets and clears mode bits in one atomic step (release). Any thread.
void set_mode(std::uint32_t set, std::uint32_t clear);

/// In a forked child: sets the mode to 0 and forgets the calling thread's block, so that no hook records any more.
void abandon_in_child();

/// Opens a window at `begin`. Null if kMaxWindows windows wait to be written.
spool::Window* open_window(Ticks begin, std::uint64_t first_mark);
/// Closes a window. Any thread, idempotent: the first caller decides the reason and the end.
void close_window(spool::Window& window, Ticks end, std::uint64_t end_mark, spool::WindowEnd why, StringId limit);
/// Adds a step mark and returns its running number.
std::uint64_t add_mark(const spool::StepMark& mark);
/// Adds a clock anchor. Any thread of ours.
void add_anchor(const Anchor& anchor);

/// Returns the number of events lost so far, of all threads.
std::uint64_t dropped();
/// Returns the number of chunks that the budget allows. Only the first SpoolHeader::chunk_count of them have ever had
/// pages. Never read the others: even a read of a hole in a file raises SIGBUS if the file system is full.
std::uint32_t chunks_in_pool();
/// Returns the number of events committed since the spool was created. A run that is sealed during the call may be
/// missing, but is never counted twice.
std::uint64_t events_committed();

struct PoolState {
  // Chunks: on the free list; sealed and kept for a window; without pages.
  std::uint32_t free = 0, held = 0, unused = 0;
  std::optional<Bound> refused_by;  // more chunks were wanted, but this bound leaves no room
  std::optional<Bound> pressed_by;  // see Room
};
/// Moves sealed chunks onto the free list unless a window may need them, gives up to `wanted_free` free chunks pages
/// (at most 8 MiB in one call), and returns free memory beyond four times `wanted_free` to the system. Under pressure
/// nearly all free memory goes back. Collector thread only. `oldest_needed` returns the begin of the oldest window that
/// is not published (0 = there is none). It is called after the sealed chunks have been collected, so that no chunk
/// with events of a window that opens later is among them.
PoolState tend_pool(const std::function<Ticks()>& oldest_needed, std::uint32_t wanted_free);
/// limits.on_limit = "drop_old": frees the oldest sealed chunks and counts their events as dropped. Collector thread.
void drop_oldest(std::uint32_t chunks);
/// Returns the time at which a thread first found no free chunk since the last call, and resets it; 0 = never.
Ticks take_first_drop();

/// Claims the device block (tid spool::kDeviceTid), to which the device thread commits the events made from
/// CUPTI's records, as a thread of the job does to its own block. Null if the table is full (counted) or the mode is
/// 0. The block is never freed.
spool::Thread* device_block();

/// Measures the cost of events: during its lifetime the calling thread, which must not be one of the job's, commits to
/// a private block and run whose events are discarded.
class ScratchThread {
 public:
  ScratchThread();
  ~ScratchThread();
  ScratchThread(const ScratchThread&) = delete;
  ScratchThread& operator=(const ScratchThread&) = delete;
  /// Returns the nanoseconds of one call of `make_event`, which must commit at most two events. The result is the
  /// median of several rounds, since the thread may be preempted in some. < 0: no memory.
  double cost_ns(const std::function<void()>& make_event);

 private:
  struct Memory;
  void rewind();
  Memory* memory_ = nullptr;
  spool::Thread* own_ = nullptr;  // the block that the thread had before
};
/// Returns the nanoseconds from open_call() to end() of one event, without the hook around them. < 0: no memory.
double measure_event_cost_ns();

}  // namespace profshim::recorder
