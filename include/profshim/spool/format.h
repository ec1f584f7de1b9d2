// Layout of the spool, the file that holds a rank's events until they are written as traces. The job maps the file
// MAP_SHARED and writes it. The writer thread and, after a crash, `profshim recover` read it.
//
//   SpoolHeader | threads[] | string arena | definitions[] | windows[] | marks[] | counters[] | anchors[] | pending[] |
//   chunks[]
//
// A chunk holds runs; a run is a RunHeader and events of one thread. Threads share chunks; a busy thread takes whole
// chunks. A chunk is freed once every window that may need it is written, or by limits.on_limit = "drop_old".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profshim/event.h"
#include "profshim/perf_counters.h"
#include "profshim/spool/losses.h"

namespace profshim::spool {

inline constexpr char kMagic[8] = {'P', 'S', 'H', 'M', 'S', 'P', 'L', '1'};
inline constexpr std::uint32_t kFormatVersion = 14;

#ifndef PROFSHIM_SMALL_SPOOL
inline constexpr std::uint32_t kMaxThreads = 1024;
inline constexpr std::uint32_t kMaxDefinitions = 1u << 16;
inline constexpr std::uint32_t kMaxWindows = 2048;
inline constexpr std::uint32_t kMaxMarks = 1u << 16;
inline constexpr std::uint32_t kMaxAnchors = 4096;
inline constexpr std::uint32_t kMaxPending = 1u << 16;
inline constexpr std::uint32_t kChunkBytes = 64 * 1024;
#else
// For the fuzzer (make fuzz): a damaged count makes readers scan whole tables.
inline constexpr std::uint32_t kMaxThreads = 4;
inline constexpr std::uint32_t kMaxDefinitions = 64;
inline constexpr std::uint32_t kMaxWindows = 8;
inline constexpr std::uint32_t kMaxMarks = 64;
inline constexpr std::uint32_t kMaxAnchors = 32;
inline constexpr std::uint32_t kMaxPending = 32;
inline constexpr std::uint32_t kChunkBytes = 8 * 1024;
#endif
/// Anchor 0 stays in anchors[]: it fixes the offset to the wall clock. The newest others form a ring behind it.
constexpr std::uint64_t anchor_place(std::uint64_t number) {
  return number == 0 ? 0 : 1 + (number - 1) % (kMaxAnchors - 1);
}
inline constexpr std::uint32_t kMaxOpenCalls = 62;
inline constexpr std::uint32_t kSlotsPerChunk = kChunkBytes / sizeof(Event);
inline constexpr std::uint32_t kEventsPerChunk = kSlotsPerChunk - 2;  // without the headers of the chunk and its run
inline constexpr std::uint32_t kNoChunk = 0xffffffff;
/// The tid of CUPTI's events.
inline constexpr std::int32_t kDeviceTid = -1;
/// The tid of the samples of [system].
inline constexpr std::int32_t kSystemTid = -2;
inline constexpr std::uint32_t kMaxName = 8 * 1024;  // longer names are cut and end with "..."
inline constexpr std::uint32_t kMaxText = 1u << 20;  // other texts, such as JSON values

/// Precedes a text in the string arena. The text's StringId is the arena offset of this header / 16.
struct StringHeader {
  std::uint64_t hash;
  std::uint32_t length;
  std::uint32_t reserved;
  // char text[length], padded to 16
};

/// Each comment names the members of Definition that the kind uses.
enum class DefinitionKind : std::uint32_t {
  kNone,
  kCommunicator,  // name; text = world ranks "[0, 1]" ("" = unknown); v = {identity hash, size, own rank, parent id,
                  // CommunicatorBackend, CUDA device of an NCCL communicator or -1}
  kDatatype,      // name; v = {size in bytes}
  kReduction,     // name
  kNvtxDomain,    // name
  kNvtxCategory,  // name; v = {domain id, category}
  kThreadName,    // name; v = {tid}
  kProblem,       // name = sentence; text = source ("nvtx", "mpi", ...); v = {1: what the spec asks for is missing from
                  // now on, ticks}
  kMetadata,      // name = key in the trace's profshim object; text = JSON value
  kDevice,        // id = CUDA device; name; text = members of deviceProperties as JSON
  kStream,        // id = stream; name = from NVTX or ""; v = {device, context, priority, flags}
  kModule,  // name = path of a mapped file; v = {begin and end address of its code, file offset of that code, address
            // of the file's first byte}
  kPhase,   // id = its place in the spec, from 1; name; text = pattern of its ranges; v = {source (PhaseSource),
            // max_seconds in nanoseconds or 0}
  kDetail,  // id = of the phase that has the windows, 0 = windows of steps; v = {DetailBits}
};
/// The detail that a window shows: see Detail.
enum DetailBits : std::int64_t {
  kShapes = 1,
  kFlops = 2,
  kPythonStack = 4,
  kNativeStack = 8,
  kModules = 16,
  kPythonCalls = 32
};
enum class CommunicatorBackend : std::int64_t { kMpi = 0, kNccl = 1, kTorch = 2 };

struct Definition {
  std::atomic<DefinitionKind> kind;  // stored last (release)
  std::uint32_t id;
  StringId name;
  StringId text;
  std::int64_t v[6];
};
static_assert(sizeof(Definition) == 64);

inline constexpr std::int64_t kUnknownCpu = -1;
/// A step boundary.
struct StepMark {
  Ticks ticks;
  std::int64_t index;                 // 0, 1, ... over the run
  std::int64_t number;                // from the marker's name, or kNoStepNumber
  std::int64_t cpu_ns = kUnknownCpu;  // CPU time of the step thread so far
};

/// counters[number of a mark % counter_count]: the counters of the step thread at the boundary.
static_assert(sizeof(PerfReading) == 96);

enum class WindowState : std::uint32_t { kFree, kOpen, kClosed, kPublished, kDropped };
enum class WindowEnd : std::uint32_t { kNone, kSchedule, kLimit, kExit };
struct Window {
  std::atomic<WindowState> state;
  std::atomic<WindowEnd> ended_by;
  std::uint64_t number;  // 0, 1, ... over the run
  Ticks begin;
  std::atomic<Ticks> end;                    // 0 while open
  std::uint64_t first_mark;                  // StepMarks before the window's first; kNoMark without steps
  std::uint64_t end_mark;                    // StepMarks before the window's end
  std::uint64_t dropped_before;              // events that the process had lost when the window opened
  std::atomic<std::uint64_t> dropped_after;  // ... when it closed
  std::atomic<Ticks> last_step_end;          // end of the last step's marker range; 0 = none
  std::uint32_t limit_reason;                // StringId; 0 = no limit
  std::uint32_t complete;                    // 1 = holds all intended steps
  std::uint64_t threadless_before;           // part of dropped_before: of threads without a block
  std::atomic<std::uint64_t> threadless_after;
  std::uint32_t epoch;
  std::uint32_t phase;              // of a phase's window: Definition id (kPhase); 0 = a window of steps
  std::atomic<std::uint64_t> file;  // inode of its trace, set just before the trace gets its name; else 0
  // A phase's window has these members, too. Its first_mark is kNoMark, its end_mark the ticks before its first.
  std::int64_t step;         // number of the step in which it began; kNoStepNumber = unknown
  std::uint32_t occurrence;  // 0, 1, ... over the run
  std::uint32_t ticks;       // begun in the window
  // By Loss: when the window opened, and when it closed.
  std::uint32_t lost_before[kLosses], lost_after[kLosses];
};
static_assert(sizeof(Window) == 128 + 8 * kLosses);
inline constexpr std::uint64_t kNoMark = ~0ull;
/// The number of SpoolHeader::search for View::window().
inline constexpr std::uint64_t kSearchWindow = ~0ull;

enum class ThreadSlot : std::uint32_t { kFree, kLive, kClaimed };  // kClaimed: being filled in
/// The block of one thread. Only this thread writes the first cache line, millions of times a second.
struct alignas(64) Thread {
  Event* next;                        // next free event; valid in the recording process only
  Event* chunk_end;                   // end of the current run
  std::atomic<std::uint32_t>* count;  // RunHeader::count of the current run
  std::uint32_t chunk;                // of the current run; kNoChunk = none
  std::uint32_t operators;            // PyTorch operators so far: see profshim/call_stack.h
  std::uint32_t open_calls;
  std::uint32_t index;
  std::uintptr_t outermost[3];  // for recorder::LayerScope: stack address of the outermost call of kNone, kMpi, kNccl
  alignas(64) std::atomic<ThreadSlot> slot;
  std::atomic<std::int32_t> tid;
  std::atomic<std::uint64_t> dropped;   // events lost by all threads that had this block
  std::atomic<std::uint32_t> sequence;  // runs of all these threads
  std::uint32_t runs;                   // runs of the present thread
  std::atomic<std::uint32_t> nowhere;   // `count` points here while the thread has no run
  char name[16];
  std::atomic<std::atomic<std::uint32_t>*> live_count;  // `count`, for other threads; null = no run
  std::uint64_t lost_pushes;                            // NVTX pushes that found open[] full; their pops close nothing
  // Calls in flight: they show where a hung or killed thread was. begin == 0: free slot.
  Event open[kMaxOpenCalls];
};
static_assert(sizeof(Thread) == 64 * 64);

/// kUnused: without pages. kOwned: threads record into it. kSealed: all its runs have ended.
enum class ChunkState : std::uint32_t { kUnused, kFree, kOwned, kSealed };
struct alignas(64) ChunkHeader {
  std::atomic<ChunkState> state;
  std::atomic<std::uint32_t> next;   // next chunk in the free or sealed list
  std::atomic<std::uint32_t> users;  // runs that a thread has or may get
  std::uint32_t reserved0;
  Ticks latest;  // once sealed: end of its latest event; 0 = no event
  std::uint32_t reserved1[10];
};
static_assert(sizeof(ChunkHeader) == 64);

/// Stands behind the chunk's header or the previous run's `room` events.
struct alignas(64) RunHeader {
  std::atomic<std::uint32_t> count;  // complete events; stored (release) after the event
  std::atomic<std::uint32_t> room;   // events that fit; shrinks (release) once another run begins behind them
  std::uint32_t thread;
  std::uint32_t sequence;  // number of the run in its Thread
  std::int32_t tid;
  char name[16];
  std::uint32_t reserved[7];
};
static_assert(sizeof(RunHeader) == 64 && offsetof(RunHeader, count) == 0);

/// Lost events of threads without a block. Several counters, because many threads count at once.
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
      chunks_at, counters_at;
  std::atomic<std::uint32_t> chunk_count;  // chunks that ever had memory; others may be holes (SIGBUS)
  // kMax..., or less if host memory is scarce
  std::uint32_t thread_count, definition_count, pending_count;
  std::uint32_t counter_count;  // at most kMaxMarks; 0 unless the spec asks for counters
  ClockKind clock;
  std::int32_t pid;
  std::int32_t rank, world_size, local_rank, local_world_size, node_rank;
  std::uint64_t pid_start_time;
  std::int32_t step_tid;  // thread whose step boundaries count; 0 = none
  std::int64_t base_time_ns;
  StringId host, program, command, rank_source, spec, run_name, folder, step_source, step_marker, job_key;
  StringId step_confidence;       // of steps that were found; 0 = the spec names them
  std::uint32_t unwanted_layers;  // bits by Layer: recorded until searched_until, to find the steps only
  std::atomic<Ticks> searched_until;
  Window search;  // kOpen while events are kept to find the steps: all that a killed process leaves that has no window
  std::uint32_t markers_end_steps;      // 1 = step 0 begins before the first marker, and is incomplete
  std::atomic<std::uint32_t> finished;  // 1 = nothing to recover
  StringId process;                     // ProcessIdentity as text
  std::atomic<std::uint64_t> arena_used;
  std::atomic<std::uint64_t> definitions;
  std::atomic<std::uint64_t> windows;
  std::atomic<std::uint64_t> marks;
  std::atomic<std::uint64_t> anchors;
#define LOSS(counter, key, extent, sentence) std::atomic<std::uint64_t> counter;
#include "profshim/spool/losses.def"
  std::atomic<std::uint64_t> windows_lost[kLostWindowReasons];  // by LostWindow
  std::atomic<std::uint64_t> steps_seen, foreign_boundaries;    // foreign: on other threads than step_tid, ignored
  ThreadlessCount threadless[kThreadlessCounts];
};

inline std::uint64_t threadless_events(const SpoolHeader& h) {
  std::uint64_t sum = 0;
  for (const ThreadlessCount& count : h.threadless) sum += count.events.load(std::memory_order_relaxed);
  return sum;
}

inline std::atomic<std::uint64_t>& counter(SpoolHeader& h, Loss loss) {
  constexpr std::atomic<std::uint64_t> SpoolHeader::*kCounters[] = {
#define LOSS(counter, key, extent, sentence) &SpoolHeader::counter,
#include "profshim/spool/losses.def"
  };
  return h.*kCounters[static_cast<std::size_t>(loss)];
}
/// At most 2^32 - 1.
inline std::uint32_t losses(const SpoolHeader& h, Loss loss) {
  constexpr std::uint64_t kMost = ~std::uint32_t{0};
  const std::uint64_t count = counter(const_cast<SpoolHeader&>(h), loss).load(std::memory_order_relaxed);
  return static_cast<std::uint32_t>(count < kMost ? count : kMost);
}

}  // namespace profshim::spool
