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
  std::uint32_t counters = 0;  // PerfReadings of step boundaries
};
/// Memory of the writer thread, apart from its index of events.
inline constexpr std::uint64_t kWriterBytes = 6ull << 20;
/// Smallest budget of divide_memory().
inline constexpr std::uint64_t kLeastRoom = 14ull << 20;
/// Divides the budget `host_memory` between spool, writer and `other_bytes` (CUPTI's buffers, tables of inject/).
/// Returns false below kLeastRoom. `with_counters`: the step boundaries have counters.
bool divide_memory(std::uint64_t host_memory, std::uint64_t other_bytes, bool with_counters, SpoolSize& size);
/// Returns the bytes of a spool with all pages in use.
std::uint64_t spool_bytes(const SpoolSize& size);

/// `path`: of the spool file; "" = anonymous memory. A failure leaves nothing behind. mode() stays 0.
bool create_spool(const std::string& path, const SpoolSize& size, std::string& why_not);
bool exists();
spool::SpoolHeader& header();
const char* data();
std::size_t size();
const std::string& path();
/// Makes tend_pool() ask `room`, which must outlive the recording, before the spool grows. Call after create_spool().
void watch_room(const MemoryRoom* room);

/// Changes mode() atomically (release).
void set_mode(std::uint32_t set, std::uint32_t clear);

/// Registers a function that each thread calls with its name when it records for the first time. One function.
void watch_threads(void (*function)(const char* name));
/// Registers a function that each recording thread calls when it ends. `at`: end of its open phases. One function.
void watch_thread_ends(void (*function)(spool::Thread& thread, Ticks at));

/// Call in a child of fork(), on its thread.
void abandon_in_child();
/// Call in a child of any fork that is to record: create_spool() then makes a spool of its own, in which the texts of
/// the parent's spool keep their StringIds.
void leave_parents_spool();
/// Takes what hooks define only once from the parent's spool, and gives its memory back. Call in each process, when
/// mode() is set.
void adopt_from_parent();

/// The members of spool::Window that only windows of phases have.
struct WindowOfPhase {
  std::uint32_t phase = 0, occurrence = 0;
  std::int64_t step = kNoStepNumber;
  std::uint64_t first_tick = 0;
};
/// Returns null if kMaxWindows windows wait to be written, and counts the lost window. Any thread of the job.
spool::Window* open_window(Ticks begin, std::uint64_t first_mark, const WindowOfPhase& of = {});
/// Counts a window that the schedule asks for and that is not opened.
void lose_window(LostWindow why);
/// Idempotent and thread-safe: the first caller decides the reason and the end.
void close_window(spool::Window& window, Ticks end, std::uint64_t end_mark, spool::WindowEnd why, StringId limit);
/// Events from `since` on are kept to find the steps: see SpoolHeader::search. 0 = no longer. One thread at a time.
void keep_for_search(Ticks since);
/// Stores a step boundary. Returns how many were stored before.
std::uint64_t add_mark(const spool::StepMark& mark, const PerfReading& counters = {});
/// Takes a lock: not for hooks.
void add_anchor(const Anchor& anchor);

/// Returns the events lost so far.
std::uint64_t dropped();
/// Returns the number of chunks that the budget allows. Never read a chunk from SpoolHeader::chunk_count on: it may be
/// a hole of the file, which raises SIGBUS if the file system is full.
std::uint32_t chunks_in_pool();
/// Counts events since create_spool(). May miss a run (spool/format.h) that ends during the call.
std::uint64_t events_committed();

struct PoolState {
  // Numbers of chunks. held: sealed, and kept for a window; unused: without pages.
  std::uint32_t free = 0, held = 0, unused = 0;
  std::optional<Bound> refused_by;  // bound that allows no pages for more chunks
  std::optional<Bound> pressed_by;  // as Room::pressed_by
};
/// Frees sealed chunks that no window needs, gives pages to chunks until `wanted_free` are free (at most 8 MiB per
/// call), and returns the pages of free chunks beyond 4 x `wanted_free`, or beyond 8 if pressed_by is set, to the
/// system. `oldest_needed` returns the begin of the oldest unpublished window (0 = none). Not thread-safe.
PoolState tend_pool(const std::function<Ticks()>& oldest_needed, std::uint32_t wanted_free);
/// Frees the oldest sealed chunks and counts their events as dropped. Not thread-safe.
void drop_oldest(std::uint32_t chunks);
/// Returns when a thread first found no free chunk since the last take_first_drop(); 0 = never.
Ticks take_first_drop();

/// Registers a block (tid spool::kDeviceTid) for events of the device thread. Null if the thread table is full or
/// mode() is 0. Never freed.
spool::Thread* device_block();
/// As device_block(), with tid spool::kSystemTid: each sampling thread has its own.
spool::Thread* system_block();

/// Measures the cost of an event on the calling thread, which must be profshim's. Discards the events.
class ScratchThread {
 public:
  ScratchThread();
  ~ScratchThread();
  ScratchThread(const ScratchThread&) = delete;
  ScratchThread& operator=(const ScratchThread&) = delete;
  /// Returns the nanoseconds of one call of `make_event`, which may commit two events. < 0: no memory.
  double cost_ns(const std::function<void()>& make_event);

 private:
  struct Memory;
  void rewind();
  Memory* memory_ = nullptr;
  spool::Thread* own_ = nullptr;
};
/// Returns the nanoseconds from open_call() to end(), without the hook. < 0: no memory.
double measure_event_cost_ns();

}  // namespace profshim::recorder
