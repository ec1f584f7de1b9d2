// Cold side of the recorder: the session calls it at activation, on the collector thread and at the end.
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
/// Writer memory that does not grow with events: buffers, compressing threads, heap.
inline constexpr std::uint64_t kWriterBytes = 6ull << 20;
/// Lower bound of limits.host_memory.
inline constexpr std::uint64_t kLeastMemory = 16ull << 20;
/// Lower bound for divide_memory(); a smaller spool is useless.
inline constexpr std::uint64_t kLeastRoom = 14ull << 20;
/// Divides a budget between spool, writer and other users (GPU part, tables of inject/: `other_bytes`). Returns false
/// below kLeastRoom.
bool divide_memory(std::uint64_t host_memory, std::uint64_t other_bytes, SpoolSize& size);
/// Bytes, if all pages are in use.
std::uint64_t spool_bytes(const SpoolSize& size);

/// Creates a file, or anonymous memory if `path` is empty. On failure (no space, RLIMIT_AS, RLIMIT_FSIZE, ...) returns
/// false and a reason and leaves nothing behind. The mode stays 0.
bool create_spool(const std::string& path, const SpoolSize& size, std::string& why_not);
bool exists();
spool::SpoolHeader& header();
const char* data();
std::size_t size();
/// "" = anonymous memory.
const std::string& path();
/// Makes tend_pool() ask `room`, which must outlive the recording, before the spool grows. After create_spool().
void watch_room(const MemoryRoom* room);

/// One atomic step (release). Any thread.
void set_mode(std::uint32_t set, std::uint32_t clear);

/// In a forked child: sets the mode to 0 and forgets the calling thread's block.
void abandon_in_child();

/// Null if kMaxWindows windows wait to be written.
spool::Window* open_window(Ticks begin, std::uint64_t first_mark);
/// Any thread, idempotent: the first caller decides the reason and the end.
void close_window(spool::Window& window, Ticks end, std::uint64_t end_mark, spool::WindowEnd why, StringId limit);
/// Returns the mark's running number.
std::uint64_t add_mark(const spool::StepMark& mark);
/// Any thread of ours.
void add_anchor(const Anchor& anchor);

/// Events lost so far, of all threads.
std::uint64_t dropped();
/// Chunks that the budget allows. Only the first SpoolHeader::chunk_count ever had pages. Never read the others:
/// reading a hole of a file raises SIGBUS if the file system is full.
std::uint32_t chunks_in_pool();
/// Events since create_spool(). A run sealed during the call may be missing, but is never counted twice.
std::uint64_t events_committed();

struct PoolState {
  // Chunks: on the free list; sealed and kept for a window; without pages.
  std::uint32_t free = 0, held = 0, unused = 0;
  std::optional<Bound> refused_by;  // bound that refused more chunks
  std::optional<Bound> pressed_by;  // see Room
};
/// Frees sealed chunks that no window may need, gives pages to up to `wanted_free` free chunks (at most 8 MiB in one
/// call), and returns free memory beyond four times `wanted_free` (under pressure nearly all) to the system. Collector
/// thread. `oldest_needed` returns the begin of the oldest unpublished window (0 = none). It is called after sealed
/// chunks are collected, so none of them has events of a later window.
PoolState tend_pool(const std::function<Ticks()>& oldest_needed, std::uint32_t wanted_free);
/// limits.on_limit = "drop_old": frees the oldest sealed chunks; their events count as dropped. Collector thread.
void drop_oldest(std::uint32_t chunks);
/// When a thread first found no free chunk since the last call; 0 = never.
Ticks take_first_drop();

/// The device thread commits to this block (tid spool::kDeviceTid). Null if the table is full (counted) or the mode is
/// 0. Never freed.
spool::Thread* device_block();

/// Measures the cost of events: the calling thread, not one of the job's, commits to a private block and run that are
/// discarded.
class ScratchThread {
 public:
  ScratchThread();
  ~ScratchThread();
  ScratchThread(const ScratchThread&) = delete;
  ScratchThread& operator=(const ScratchThread&) = delete;
  /// Nanoseconds of one `make_event`, which must commit at most two events: the median of several rounds, since some
  /// may be preempted. < 0: no memory.
  double cost_ns(const std::function<void()>& make_event);

 private:
  struct Memory;
  void rewind();
  Memory* memory_ = nullptr;
  spool::Thread* own_ = nullptr;  // the block that the thread had before
};
/// Nanoseconds from open_call() to end(), without the hook. < 0: no memory.
double measure_event_cost_ns();

}  // namespace profshim::recorder
