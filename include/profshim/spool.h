// The spool: one file per recorded rank, mapped MAP_SHARED by the job and read by the writer thread or, after a crash,
// by `profshim recover`. This header is the file format. Everything in it is plain data at fixed offsets; what is
// shared between threads is a std::atomic that is lock-free and address-free.
//
//   SpoolHeader | threads[] | string arena | definitions[] | windows[] | marks[] | anchors[] | pending[] | chunks[]
//
// Events lie in chunks of 64 KiB, and in a chunk in runs: a header and the events of one thread behind it, then the
// next run. A thread owns one run at a time and fills it. Its first runs are short, so that many threads share a chunk;
// a busy thread takes whole chunks from the free list. The rest of a run whose thread ends is a run for the next
// thread. A chunk goes back to the free list when every window that could need it has been published, so whatever a
// published file does not hold yet survives in here.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/event.h"
#include "profshim/trace.h"

namespace profshim::spool {

inline constexpr char kMagic[8] = {'P', 'S', 'H', 'M', 'S', 'P', 'L', '1'};
inline constexpr std::uint32_t kFormatVersion = 6;

#ifndef PROFSHIM_SMALL_SPOOL
inline constexpr std::uint32_t kMaxThreads = 1024;
inline constexpr std::uint32_t kMaxDefinitions = 1u << 16;
inline constexpr std::uint32_t kMaxWindows = 1024;
inline constexpr std::uint32_t kMaxMarks = 1u << 16;
inline constexpr std::uint32_t kMaxAnchors = 4096;
inline constexpr std::uint32_t kMaxPending = 1u << 16;
inline constexpr std::uint32_t kChunkBytes = 64 * 1024;
#else
// For the fuzzer alone (make fuzz): a damaged count makes a reader go through a whole table, which took 99 % of its
// time.
inline constexpr std::uint32_t kMaxThreads = 4;
inline constexpr std::uint32_t kMaxDefinitions = 64;
inline constexpr std::uint32_t kMaxWindows = 8;
inline constexpr std::uint32_t kMaxMarks = 64;
inline constexpr std::uint32_t kMaxAnchors = 32;
inline constexpr std::uint32_t kMaxPending = 32;
inline constexpr std::uint32_t kChunkBytes = 8 * 1024;
#endif
/// Where anchor `number` lies. The first stays: it fixes the offset to the wall clock. The others are a ring of the
/// newest.
constexpr std::uint64_t anchor_place(std::uint64_t number) {
  return number == 0 ? 0 : 1 + (number - 1) % (kMaxAnchors - 1);
}
inline constexpr std::uint32_t kMaxOpenCalls = 62;
inline constexpr std::uint32_t kSlotsPerChunk = kChunkBytes / sizeof(Event);
inline constexpr std::uint32_t kEventsPerChunk = kSlotsPerChunk - 2;  // in a run that has the whole chunk
inline constexpr std::uint32_t kNoChunk = 0xffffffff;
/// RunHeader::tid and Thread::tid of the lane that holds what CUPTI tells: no thread of the job has it.
inline constexpr std::int32_t kDeviceLane = -1;
inline constexpr std::uint32_t kMaxName = 8 * 1024;  // longer names are cut, and say so
inline constexpr std::uint32_t kMaxText = 1u
                                          << 20;  // of what is no name: the ranks of a communicator, a fact, the spec

/// A text in the arena. The id of a string is (offset of its header in the arena) / 16.
struct StringHeader {
  std::uint64_t hash;
  std::uint32_t length;
  std::uint32_t reserved;
  // char text[length], padded to 16
};

enum class DefinitionKind : std::uint32_t {
  kNone,
  kCommunicator,  // name; text = world ranks "[0, 1]" ("" = unknown); v = {identity hash, size, own rank in it, parent
                  // id, CommunicatorBackend, CUDA device of an NCCL communicator or -1}
  kDatatype,      // name; v = {size in bytes}
  kReduction,     // name
  kNvtxDomain,    // name
  kNvtxCategory,  // name; v = {domain id, category}
  kThreadName,    // name; v = {tid}
  kProblem,       // name = what was lost, in one sentence; text = source ("nvtx", "mpi", ...)
  kFact,          // name = key, text = JSON value: goes into the trace's profshim object
  kDevice,        // id = CUDA device; name; text = the members of deviceProperties as JSON
  kStream,        // id = stream; name = "" or a name given through NVTX; v = {device, context, priority, flags}
  kModule,        // name = path of a file that is mapped; v = {begin and end of its code, its offset in the file there,
                  // where the file begins}
};
enum class CommunicatorBackend : std::int64_t { kMpi = 0, kNccl = 1, kTorch = 2 };

struct Definition {
  std::atomic<DefinitionKind> kind;  // published last (release)
  std::uint32_t id;
  StringId name;
  StringId text;
  std::int64_t v[6];
};
static_assert(sizeof(Definition) == 64);

struct StepMark {
  Ticks ticks;
  std::int64_t index;   // 0-based over the run
  std::int64_t number;  // from the marker's name, or kNoStepNumber
};

enum class WindowState : std::uint32_t { kFree, kOpen, kClosed, kPublished, kDropped };
enum class WindowEnd : std::uint32_t { kNone, kSchedule, kLimit, kExit };
struct Window {
  std::atomic<WindowState> state;
  std::atomic<WindowEnd> ended_by;
  std::uint64_t number;  // 0, 1, ... over the run
  Ticks begin;
  std::atomic<Ticks> end;        // 0 while open
  std::uint64_t first_mark;      // running number of the mark that opened it; kNoMark without steps
  std::uint64_t end_mark;        // running number of the mark that closed it, or one past the last
  std::uint64_t dropped_before;  // events lost in the whole process when it opened
  std::atomic<std::uint64_t> dropped_after;
  std::atomic<Ticks> last_step_end;  // end of the marker range of the last step, where known (NVTX); else 0
  std::uint32_t limit_reason;        // StringId: which limit closed it
  std::uint32_t complete;            // 1 = holds all the steps it was meant to
  std::uint64_t threadless_before;   // of the events lost those of threads without a block, likewise
  std::atomic<std::uint64_t> threadless_after;
  std::uint32_t epoch;  // that it was opened in
  std::uint32_t reserved;
  std::atomic<std::uint64_t> file;  // inode of its trace, from just before that gets its name; else 0
  std::uint64_t reserved_2[2];
};
static_assert(sizeof(Window) == 128);
inline constexpr std::uint64_t kNoMark = ~0ull;

enum class ThreadSlot : std::uint32_t { kFree, kLive, kClaimed };  // kClaimed: being filled in, for kLive
/// One thread of the job. The first line is written by that thread only, millions of times a second.
struct alignas(64) Thread {
  Event* next;  // meaningful in the recording process only
  Event* chunk_end;
  std::atomic<std::uint32_t>* count;  // of the current run: the first word of its header
  std::uint32_t chunk;                // index of the current run's; kNoChunk = none
  std::uint32_t operators;            // of PyTorch that had a chance of a stack: see profshim/call_stack.h
  std::uint32_t open_calls;
  std::uint32_t index;
  std::uintptr_t outermost[3];  // stack address of the outermost call that runs, of Layer::kNone, kMpi, kNccl; 0 = none
  // -- second line
  alignas(64) std::atomic<ThreadSlot> slot;
  std::atomic<std::int32_t> tid;
  std::atomic<std::uint64_t> dropped;   // events of all threads that had this block
  std::atomic<std::uint32_t> sequence;  // runs taken so far, by all of them
  std::uint32_t runs;                   // taken by this thread
  std::atomic<std::uint32_t> nowhere;   // stands for the count of a run while the thread has none
  char name[16];
  std::atomic<std::atomic<std::uint32_t>*> live_count;  // `count` for others in the recording process; null = no run
  std::uint64_t lost_pushes;  // NVTX pushes that found open[] full: their pops close nothing; the owner's
  // -- calls that have begun and not ended: what a hung or killed thread was doing. begin == 0: slot not in use
  Event open[kMaxOpenCalls];
};
static_assert(sizeof(Thread) == 64 * 64);

enum class ChunkState : std::uint32_t { kUnused, kFree, kOwned, kSealed };
struct alignas(64) ChunkHeader {
  std::atomic<ChunkState> state;
  std::atomic<std::uint32_t> next;   // free list or sealed list
  std::atomic<std::uint32_t> users;  // runs that a thread has, or a thread may get
  std::uint32_t reserved0;
  Ticks latest;  // once sealed: an end that no event in it exceeds; 0 = it has no event
  std::uint32_t reserved1[10];
};
static_assert(sizeof(ChunkHeader) == 64);

/// The first run of a chunk lies behind the chunk's header, each other one behind the room of the run before it. A run
/// of the device lane has a whole chunk.
struct alignas(64) RunHeader {
  std::atomic<std::uint32_t> count;  // events complete in it (release after the store of the event); first: see Thread
  std::atomic<std::uint32_t> room;   // events that fit (release after the header of the run behind them is whole)
  std::uint32_t thread;
  std::uint32_t sequence;  // order of the runs of this thread's block
  std::int32_t tid;
  char name[16];
  std::uint32_t reserved[7];
};
static_assert(sizeof(RunHeader) == 64 && offsetof(RunHeader, count) == 0);

/// A run as a reader finds it: `count` events that lie inside of its chunk.
struct Run {
  const RunHeader* header;
  const Event* events;
  std::uint32_t count;
};

/// Events that could not be recorded since their thread has no block. Counted in several places, since many threads
/// count at once.
struct alignas(64) ThreadlessCount {
  std::atomic<std::uint64_t> events;
};
inline constexpr std::uint32_t kThreadlessCounts = 8;

struct SpoolHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::uint64_t threads_at, arena_at, arena_bytes, definitions_at, windows_at, marks_at, anchors_at, pending_at,
      chunks_at;
  std::atomic<std::uint32_t> chunk_count;                       // that have ever had pages; grows
  std::uint32_t thread_count, definition_count, pending_count;  // kMax... or less, where memory is scarce
  ClockKind clock;
  std::int32_t pid;
  std::int32_t rank, world_size, local_rank, local_world_size, node_rank;
  std::uint64_t pid_start_time;
  std::int32_t step_tid;      // the thread the step boundaries come from; 0 = none yet
  std::int64_t base_time_ns;  // baseTimeNanoseconds of the job
  StringId host, program, command, rank_source, spec, run_name, folder, step_source, step_marker, job_key;
  std::atomic<std::uint32_t> finished;  // 1 = nothing left to recover
  StringId process;                     // ProcessIdentity as text; 0 = not written down
  std::atomic<std::uint64_t> arena_used;
  std::atomic<std::uint64_t> definitions;
  std::atomic<std::uint64_t> windows;  // opened so far
  std::atomic<std::uint64_t> marks;
  std::atomic<std::uint64_t> anchors;
  std::atomic<std::uint64_t> strings_lost, definitions_lost, open_calls_lost, threads_lost, pending_lost;
  std::atomic<std::uint64_t> steps_seen, foreign_boundaries;  // the latter: boundaries on other threads, ignored
  std::atomic<std::uint64_t> dropped;  // events in chunks that were given up (drop_old); threads count in their block
  ThreadlessCount threadless[kThreadlessCounts];
};

/// Events of threads without a block so far.
inline std::uint64_t threadless_events(const SpoolHeader& h) {
  std::uint64_t sum = 0;
  for (const ThreadlessCount& count : h.threadless) sum += count.events.load(std::memory_order_relaxed);
  return sum;
}
/// The sentence about threads without a block; "" when there were none.
std::string threads_lost_sentence(const SpoolHeader& h);

/// Read access to a mapped spool, live or dead. Never trusts a number in it: offsets and ids are checked.
class View {
 public:
  /// Maps `path` read-only. Null and a reason when it is no spool.
  static std::unique_ptr<View> open(const std::string& path, std::string& why_not);
  /// The same for a file that is open; the descriptor stays the caller's.
  static std::unique_ptr<View> open(int fd, std::string& why_not);
  /// Over memory owned by somebody else (the live session; fuzzing).
  static std::unique_ptr<View> over(const void* data, std::size_t size, std::string& why_not);
  ~View();

  const SpoolHeader& header() const { return *header_; }
  /// "" when out of range, and when longer than the recorder makes them: then the length is damaged, and what it spans
  /// may be anything.
  std::string_view string(StringId id, std::size_t longest = kMaxName) const;
  const Thread& thread(std::uint32_t i) const;
  const ChunkHeader& chunk(std::uint32_t i) const;
  /// The runs of a chunk, in the order in which they lie in it.
  template <class Function>
  void for_each_run(std::uint32_t i, const Function& function) const {
    for (std::uint32_t slot = 1; slot < kSlotsPerChunk;) {
      const Run run = run_at(i, slot);
      if (run.count > 0) function(run);
      slot += 1 + std::min(run.header->room.load(std::memory_order_acquire), kSlotsPerChunk);
    }
  }
  /// Those of all chunks that hold events.
  template <class Function>
  void for_each_run(const Function& function) const {
    for (std::uint32_t i = 0; i < header_->chunk_count; ++i) {
      const ChunkState state = chunk(i).state.load(std::memory_order_acquire);
      if (state == ChunkState::kOwned || state == ChunkState::kSealed) for_each_run(i, function);
    }
  }
  /// Slot `number` of all slots of all chunks, headers among them, and the number of the slot of an event; for what
  /// for_each_run() gave.
  const Event& slot(std::uint32_t number) const { return slots()[number]; }
  std::uint64_t slot_of(const Event& event) const { return static_cast<std::uint64_t>(&event - slots()); }
  const Window& window(std::uint64_t number) const;  // number % kMaxWindows
  const Event& pending(std::uint32_t i) const;
  std::vector<StepMark> marks(std::uint64_t first, std::uint64_t end) const;
  std::vector<Anchor> anchors() const;
  std::vector<const Definition*> definitions() const;

 private:
  View() = default;
  const Event* slots() const { return reinterpret_cast<const Event*>(data_ + header_->chunks_at); }
  Run run_at(std::uint32_t chunk, std::uint32_t slot) const;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  const SpoolHeader* header_ = nullptr;
  bool mapped_ = false;
};

/// While a window was open; microseconds, of CPU time but for `measured_us`.
struct CpuUse {
  double measured_us = 0;  // between the two readings: each may come some ms after the window's own end
  double waited_us = 0;    // the job's threads together were ready to run and something else ran
  double process_us = 0;   // used by this process
  double machine_us = 0;   // used by all processes, on all CPUs
  double stolen_us = 0;    // on all CPUs: the virtual machine was ready to run and its host did something else
  int cpus = 0;
};

/// What the caller knows beside the spool when it writes a window.
struct WindowFacts {
  std::string trace_name;  // final path, the last key of the file
  bool recovered = false;  // made by `profshim recover`
  double overhead_percent = -1;
  double stall_us = -1;
  std::optional<CpuUse> cpu;
  std::uint64_t memory_entries = ~std::uint64_t{0};  // kTorchMemory: as many as the trace shows at most
  // A part of a window that may still be open (see sample_size()): these runs alone, and what began at `since` or
  // later.
  std::optional<std::vector<Run>> only;
  Ticks since = 0;
};
struct WindowSummary {
  std::uint64_t events = 0;  // trace events written, all kinds
  std::uint64_t calls = 0;   // recorded calls and ranges of the job's threads, CUDA's API calls left out
  std::uint64_t of_layer[static_cast<std::size_t>(Layer::kCount)] = {};  // the same calls, by Event::hook
  std::uint64_t memory = 0;                                              // kTorchMemory
  std::uint64_t device = 0;                                              // what CUPTI told: API calls and device work
  std::uint64_t dropped = 0;
  std::int64_t first_step = 0, last_step = -1;  // true numbers; first > last = no steps
  bool complete = true;
  bool truncated = false;
};

/// Turns one window of a spool into a trace through `writer`-making callbacks: the one place where events get their
/// Kineto form. Used by the writer thread and by recover.
class Assembly {
 public:
  Assembly(const View& view, std::uint64_t window_number, const WindowFacts& facts);
  ~Assembly();
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;
  const WindowSummary& summary() const;
  /// What goes into the file beside the events; before write().
  void set_facts(const WindowFacts& facts);
  /// Nothing but Init/Finalize was recorded and no step was completed: not worth a file.
  bool empty() const;
  /// Streams header and events into the sink; false when the sink failed. `on_progress` is called every few thousand
  /// events.
  bool write(ByteSink& sink, const std::function<void()>& on_progress);
  /// Has any event a stack?
  bool has_stacks() const;
  /// The stacks as torch.profiler's export_stacks() writes them: frames from the outermost on with ";" between them, a
  /// space, and the microseconds that the calls took which have this stack, without the calls inside them. False when
  /// the sink failed.
  bool write_stacks(ByteSink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The size in JSON of the events of an open window.
struct SampledSize {
  double fixed_bytes = 0;      // of the trace beside its events
  double bytes_per_event = 0;  // of the spool; 0 = there was none to be looked at
};
/// Writes some runs of the window with events that ended at `since` or later into nothing. No chunk may change hands
/// meanwhile. Writer thread; some ms.
SampledSize sample_size(const View& view, std::uint64_t window, Ticks since, std::uint64_t memory_entries);

}  // namespace profshim::spool
