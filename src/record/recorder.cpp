// The recorder: the one piece of process-wide state of the hot path. See recorder.h for what runs where.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "profshim/base/shared_words.h"
#include "profshim/recorder_control.h"
#include "record/memory/spool_memory.h"
#include "spare_runs.h"
#include "string_table.h"

namespace profshim::recorder {

using spool::ChunkHeader;
using spool::ChunkState;
using spool::kChunkBytes;
using spool::kEventsPerChunk;
using spool::kNoChunk;
using spool::RunHeader;
using spool::SpoolHeader;
using spool::Thread;
using spool::ThreadSlot;
using spool::Window;
using spool::WindowState;

namespace detail {
constinit std::atomic<std::uint32_t> mode{0};
constinit std::atomic<Ticks> last_boundary{0};
thread_local constinit Thread* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;
// What blocks_freed was when this thread found no block: it looks again when one has come free. 0 = it found one yet.
thread_local constinit std::uint32_t refused_at __attribute__((tls_model("initial-exec"))) = 0;
}  // namespace detail

namespace {

struct State {
  SpoolHeader* header = nullptr;
  Thread* threads = nullptr;
  spool::Definition* definitions = nullptr;
  Window* windows = nullptr;
  spool::StepMark* marks = nullptr;
  Anchor* anchors = nullptr;
  Event* pending = nullptr;
  char* chunks = nullptr;
  std::atomic<std::uint32_t>* pending_next = nullptr;  // free list of pending slots, anonymous memory
  pthread_key_t thread_end{};
  bool has_key = false;
};
constinit State state;

// Free lists hold (tag << 32 | index): the tag makes a pop safe against an index that left and came back.
constinit std::atomic<std::uint64_t> free_chunks{kNoChunk};
constinit std::atomic<std::uint64_t> free_pending{kNoChunk};
constinit std::atomic<std::uint32_t> sealed_chunks{kNoChunk};
constinit std::atomic<std::uint32_t> free_count{0};
constinit SpareRuns spare_runs;
constinit std::atomic<std::uint64_t> events_in_sealed_runs{0};
constinit std::atomic<std::uint32_t> blocks_used{0};  // no block at or behind it has ever been claimed
constinit std::atomic<Ticks> first_drop{0};
constinit std::atomic<std::uint64_t> definitions_ready{0};
constinit std::atomic<std::uint64_t> threads_ready{0};
constinit std::atomic<std::uint32_t> blocks_freed{1};
constinit std::atomic<StringId> problems_said[64] = {};  // more than there are sentences in the whole library
constinit std::mutex anchor_mutex;
constinit std::uint32_t pool_chunks = 0;
constexpr std::uint32_t kFirstRun = 31;  // events in the first run of a thread; each further one has twice as many
constexpr std::uint32_t kLeastRun = 7;   // shorter ones are not worth a header
constexpr std::uint32_t kPopulatedAtOnce = 128;    // 8 MiB, some 3 ms
constexpr std::uint64_t kMappedAtFirst = 4 << 20;  // of chunks, where address space is scarce
constexpr std::uint32_t kKeptUnderPressure = 8;
constexpr std::int64_t kRoomValid_ns = 10'000'000;
constexpr std::int64_t kPressureValid_ns = 100'000'000;

// Collector thread only, from here on.
const MemoryRoom* memory_room = nullptr;  // null: nothing but the pool's size bounds it
constinit Room last_room;
constinit std::int64_t room_read_ns = 0;
constinit std::uint64_t populated_chunks = 0;
std::vector<std::uint32_t>& held() {  // sealed, in the order of sealing
  static auto* const list = new std::vector<std::uint32_t>;
  return *list;
}
std::vector<std::uint32_t>& unused() {
  static auto* const list = new std::vector<std::uint32_t>;
  return *list;
}

ChunkHeader& chunk(std::uint32_t i) {
  return *reinterpret_cast<ChunkHeader*>(state.chunks + std::size_t{i} * kChunkBytes);
}
RunHeader& run_at(std::uint32_t i, std::uint32_t slot) {
  return *reinterpret_cast<RunHeader*>(state.chunks + std::size_t{i} * kChunkBytes + slot * sizeof(Event));
}
Event* events_of(RunHeader& run) { return reinterpret_cast<Event*>(&run) + 1; }

template <class Function>
void for_each_run(std::uint32_t i, const Function& function) {
  for (std::uint32_t slot = 1; slot < spool::kSlotsPerChunk;) {
    RunHeader& run = run_at(i, slot);
    const std::uint32_t room = std::min(run.room.load(std::memory_order_acquire), spool::kSlotsPerChunk - slot - 1);
    function(events_of(run), std::min(run.count.load(std::memory_order_acquire), room));
    slot += 1 + room;
  }
}

template <class NextOf>
std::uint32_t pop(std::atomic<std::uint64_t>& list, NextOf next_of) {
  std::uint64_t head = list.load(std::memory_order_acquire);
  for (;;) {
    const auto index = static_cast<std::uint32_t>(head);
    if (index == kNoChunk) return kNoChunk;
    const std::uint64_t next = ((head >> 32) + 1) << 32 | next_of(index).load(std::memory_order_relaxed);
    if (list.compare_exchange_weak(head, next, std::memory_order_acq_rel, std::memory_order_acquire)) return index;
  }
}
template <class NextOf>
void push(std::atomic<std::uint64_t>& list, std::uint32_t index, NextOf next_of) {
  std::uint64_t head = list.load(std::memory_order_relaxed);
  for (;;) {
    next_of(index).store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    const std::uint64_t next = ((head >> 32) + 1) << 32 | index;
    if (list.compare_exchange_weak(head, next, std::memory_order_release, std::memory_order_relaxed)) return;
  }
}
constexpr auto kChunkNext = [](std::uint32_t i) -> std::atomic<std::uint32_t>& { return chunk(i).next; };
constexpr auto kPendingNext = [](std::uint32_t i) -> std::atomic<std::uint32_t>& { return state.pending_next[i]; };

using spool_memory::populate;

// Entry `index` of a table whose pages are made on demand, 64 KiB at a time. Rare paths only.
template <class T>
bool ready(T* table, std::uint64_t index, std::atomic<std::uint64_t>& entries_ready) {
  if (index < entries_ready.load(std::memory_order_acquire)) return true;
  const std::uint64_t step = std::max<std::uint64_t>(1, 65536 / sizeof(T));
  const std::uint64_t until = (index / step + 1) * step;
  if (!populate(table, until * sizeof(T))) return false;
  std::uint64_t known = entries_ready.load(std::memory_order_relaxed);
  while (known < until && !entries_ready.compare_exchange_weak(known, until, std::memory_order_release)) {
  }
  return true;
}

// Whoever leaves a chunk last seals it.
void leave_chunk(std::uint32_t i) {
  ChunkHeader& c = chunk(i);
  if (c.users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  c.state.store(ChunkState::kSealed, std::memory_order_release);
  std::uint32_t head = sealed_chunks.load(std::memory_order_relaxed);
  do {
    c.next.store(head, std::memory_order_relaxed);
  } while (!sealed_chunks.compare_exchange_weak(head, i, std::memory_order_release, std::memory_order_relaxed));
}

// Makes two runs of one that this thread has; where to find the second. Nobody has it yet, but it uses the chunk.
RunPlace cut(RunPlace run, std::uint32_t room) {
  const auto slot = static_cast<std::uint16_t>(run.slot + 1 + room);
  RunHeader& rest = run_at(run.chunk, slot);
  rest.count.store(0, std::memory_order_relaxed);
  rest.room.store(run.room - room - 1, std::memory_order_relaxed);
  run_at(run.chunk, run.slot).room.store(room, std::memory_order_release);  // pairs with for_each_run()
  return {run.chunk, slot, static_cast<std::uint16_t>(run.room - room - 1)};
}

void give_away(RunPlace run) {
  if (!spare_runs.put(run)) leave_chunk(run.chunk);
}

void forget_run(Thread& t) {
  events_in_sealed_runs.fetch_add(t.count->load(std::memory_order_relaxed), std::memory_order_release);
  t.live_count.store(nullptr, std::memory_order_release);
  t.count = &t.nowhere;
  t.chunk = kNoChunk;
}

void seal_current(Thread& t) {
  if (t.chunk == kNoChunk) return;
  const std::uint32_t chunk_of_run = t.chunk;
  forget_run(t);
  leave_chunk(chunk_of_run);
}

// A thread that ends leaves the rest of its run to another.
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

RunPlace whole_chunk() {
  const std::uint32_t i = pop(free_chunks, kChunkNext);
  if (i == kNoChunk) return {};
  free_count.fetch_sub(1, std::memory_order_relaxed);
  RunHeader& run = run_at(i, 1);
  run.count.store(0, std::memory_order_relaxed);
  run.room.store(kEventsPerChunk, std::memory_order_relaxed);
  chunk(i).users.store(1, std::memory_order_relaxed);
  chunk(i).state.store(ChunkState::kOwned, std::memory_order_release);
  return {i, 1, kEventsPerChunk};
}

// The next run of a thread: short ones at first, since most threads make few events.
RunPlace take_run(const Thread& t) {
  const std::uint32_t wanted = kFirstRun << std::min(t.runs, 8u);
  const bool of_device = t.tid.load(std::memory_order_relaxed) == spool::kDeviceLane;
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

void on_thread_end(void* block) {
  auto* const t = static_cast<Thread*>(block);
  if (detail::this_thread != t || detail::mode.load(std::memory_order_relaxed) == 0) return;
  detail::this_thread = nullptr;
  leave_rest(*t);
  for (Event& call : t->open) call.begin = 0;
  t->open_calls = 0;
  t->slot.store(ThreadSlot::kFree, std::memory_order_release);
  blocks_freed.fetch_add(1, std::memory_order_release);
}

}  // namespace

// ---- hot border, out-of-line parts
// -----------------------------------------------------------------------------------

namespace detail {

// `name` null: that of the calling thread.
static Thread* claim_block(std::int32_t tid, const char* name) {
  if (mode.load(std::memory_order_acquire) == 0) return nullptr;
  const std::uint32_t freed = blocks_freed.load(std::memory_order_acquire);
  if (refused_at == freed) return nullptr;
  for (std::uint32_t i = 0; i < state.header->thread_count; ++i) {
    if (!ready(state.threads, i, threads_ready)) break;
    Thread& t = state.threads[i];
    ThreadSlot expected = ThreadSlot::kFree;
    if (t.slot.load(std::memory_order_relaxed) != ThreadSlot::kFree ||
        !t.slot.compare_exchange_strong(expected, ThreadSlot::kClaimed, std::memory_order_acquire)) {
      continue;
    }
    t.next = t.chunk_end = nullptr;
    t.count = &t.nowhere;
    t.chunk = kNoChunk;
    t.runs = 0;
    t.live_count.store(nullptr, std::memory_order_relaxed);
    std::uint32_t used = blocks_used.load(std::memory_order_relaxed);
    while (used <= i && !blocks_used.compare_exchange_weak(used, i + 1, std::memory_order_release)) {
    }
    std::memset(t.outermost, 0, sizeof t.outermost);
    t.operators = 0;
    t.open_calls = 0;
    t.index = i;
    t.tid.store(tid, std::memory_order_relaxed);
    std::memset(t.name, 0, sizeof t.name);
    if (name != nullptr) {
      std::strncpy(t.name, name, sizeof t.name - 1);
    } else {
      prctl(PR_GET_NAME, t.name);
    }
    t.slot.store(ThreadSlot::kLive, std::memory_order_release);
    return &t;
  }
  if (refused_at == 0) state.header->threads_lost.fetch_add(1, std::memory_order_relaxed);
  refused_at = freed;
  return nullptr;
}

Thread* register_thread() {
  Thread* const t = claim_block(static_cast<std::int32_t>(syscall(SYS_gettid)), nullptr);
  if (t == nullptr) return nullptr;
  pthread_setspecific(state.thread_end, t);
  this_thread = t;
  return t;
}

bool next_chunk(Thread& t) {
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

void count_threadless() {
  const auto spread = reinterpret_cast<std::uintptr_t>(&refused_at) >> 12;
  state.header->threadless[spread % spool::kThreadlessCounts].events.fetch_add(1, std::memory_order_relaxed);
}

void count_lost_open_call() { state.header->open_calls_lost.fetch_add(1, std::memory_order_relaxed); }

// When it was left nobody has seen: it is said to be unfinished, and ends where that is noticed.
void close_left_calls(Thread& t, Layer layer) {
  for (std::uint32_t i = t.open_calls; i-- > 0;) {
    Event& call = t.open[i];
    if (call.begin == 0 || layer == Layer::kNone || hook_layer(call.hook) != layer) continue;
    call.flags |= kUnfinished;
    end(t, call);
  }
  t.outermost[static_cast<int>(layer)] = 0;
}

}  // namespace detail

Event* take_pending() {
  if (mode() == 0) return nullptr;
  const std::uint32_t i = pop(free_pending, kPendingNext);
  if (i == kNoChunk) {
    state.header->pending_lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  return &state.pending[i];
}

void release_pending(Event* slot) {
  if (slot == nullptr || mode() == 0) return;
  slot->begin = 0;
  push(free_pending, static_cast<std::uint32_t>(slot - state.pending), kPendingNext);
}

StringId intern(std::string_view text, std::size_t limit) {
  if (text.empty() || mode() == 0) return 0;
  return string_table::intern(text, limit);
}

StringId intern_literal(const char* text) { return mode() == 0 ? 0 : string_table::intern_literal(text); }

std::string_view text_of(StringId id) { return string_table::text_of(id); }

void define(spool::DefinitionKind kind, std::uint32_t id, StringId name, StringId text,
            std::initializer_list<std::int64_t> values) {
  if (state.header == nullptr) return;
  // Counted only when it has pages: readers look at all that are counted.
  std::uint64_t at = state.header->definitions.load(std::memory_order_relaxed);
  do {
    if (at >= state.header->definition_count || !ready(state.definitions, at, definitions_ready)) {
      state.header->definitions_lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  } while (!state.header->definitions.compare_exchange_weak(at, at + 1, std::memory_order_relaxed));
  spool::Definition& d = state.definitions[at];
  d.id = id;
  d.name = name;
  d.text = text;
  std::size_t i = 0;
  for (const std::int64_t value : values) {
    if (i < std::size(d.v)) d.v[i++] = value;
  }
  d.kind.store(kind, std::memory_order_release);
}

void problem(std::string_view source, std::string_view sentence) {
  const StringId text = intern(sentence);
  if (text == 0) return;  // no room for it: strings_lost
  for (std::atomic<StringId>& said : problems_said) {
    StringId known = 0;
    if (said.compare_exchange_strong(known, text, std::memory_order_relaxed)) {
      return define(spool::DefinitionKind::kProblem, 0, text, intern(source));
    }
    if (known == text) return;
  }
}

// ---- cold side
// -------------------------------------------------------------------------------------------------------

namespace {

struct Layout {
  std::uint64_t threads, arena, definitions, windows, marks, anchors, pending, chunks, total;
};

Layout lay_out(const SpoolSize& size) {
  Layout l{};
  std::uint64_t at = 0;
  const auto take = [&at](std::uint64_t bytes) {
    const std::uint64_t here = at;
    at = (at + bytes + 65535) & ~std::uint64_t{65535};
    return here;
  };
  take(sizeof(SpoolHeader));
  l.threads = take(sizeof(Thread) * size.threads);
  l.arena = take(size.arena_bytes);
  l.definitions = take(sizeof(spool::Definition) * size.definitions);
  l.windows = take(sizeof(Window) * spool::kMaxWindows);
  l.marks = take(sizeof(spool::StepMark) * spool::kMaxMarks);
  l.anchors = take(sizeof(Anchor) * spool::kMaxAnchors);
  l.pending = take(sizeof(Event) * size.pending);
  l.chunks = take(std::uint64_t{size.chunks} * kChunkBytes);
  l.total = at;
  return l;
}

}  // namespace

std::uint64_t spool_bytes(const SpoolSize& size) { return lay_out(size).total; }

bool divide_memory(std::uint64_t host_memory, std::uint64_t other_bytes, SpoolSize& size) {
  if (host_memory < kLeastRoom) return false;
  host_memory -= std::min(other_bytes, host_memory / 8);
  // Each table has up to a 32nd, until it is as large as it is ever wanted.
  const std::uint64_t share = host_memory / 32;
  const auto entries = [share](std::size_t bytes, std::uint32_t most) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(share / bytes, most));
  };
  size.arena_bytes = std::clamp<std::uint64_t>(share, 256 << 10, 256 << 20) & ~std::uint64_t{4095};
  size.threads = entries(sizeof(Thread), spool::kMaxThreads);
  size.definitions = entries(sizeof(spool::Definition), spool::kMaxDefinitions);
  size.pending = entries(sizeof(Event), spool::kMaxPending);
  size.chunks = 0;
  // A quarter stays for the writer's index of the events.
  const std::uint64_t budget = (host_memory - kWriterBytes) / 4 * 3, tables = spool_bytes(size);
  size.chunks = static_cast<std::uint32_t>(std::min<std::uint64_t>((budget - tables) / kChunkBytes, 1u << 24));
  return true;
}

namespace {

void forget_mapping() {
  spool_memory::unmap();
  const bool has_key = state.has_key;
  const pthread_key_t key = state.thread_end;
  state = State{};
  state.has_key = has_key;
  state.thread_end = key;
}

void reset_lists(std::uint32_t chunks) {
  free_chunks = kNoChunk;
  free_pending = kNoChunk;
  sealed_chunks = kNoChunk;
  free_count = 0;
  first_drop = 0;
  definitions_ready = 0;
  for (std::atomic<StringId>& said : problems_said) said = 0;
  threads_ready = 0;
  spare_runs.reset(chunks);
  events_in_sealed_runs = 0;
  blocks_used = 0;
  blocks_freed.fetch_add(1);
  memory_room = nullptr;
  room_read_ns = 0;
  populated_chunks = 0;
  held().clear();
  unused().clear();
  for (std::uint32_t i = chunks; i-- > 0;) unused().push_back(i);
}

}  // namespace

bool create_spool(const std::string& path, const SpoolSize& size, std::string& why_not) {
  const Layout l = lay_out(size);
  if (!state.has_key) {
    if (pthread_key_create(&state.thread_end, on_thread_end) != 0) {
      why_not = "no thread-specific key is left";
      return false;
    }
    state.has_key = true;
  }
  const std::uint64_t first = std::min(l.total, l.chunks + kMappedAtFirst);
  if (!spool_memory::map(path, l.total, first, why_not)) return false;
  char* const data = spool_memory::data();
  state.header = reinterpret_cast<SpoolHeader*>(data);
  state.threads = reinterpret_cast<Thread*>(data + l.threads);
  state.definitions = reinterpret_cast<spool::Definition*>(data + l.definitions);
  state.windows = reinterpret_cast<Window*>(data + l.windows);
  state.marks = reinterpret_cast<spool::StepMark*>(data + l.marks);
  state.anchors = reinterpret_cast<Anchor*>(data + l.anchors);
  state.pending = reinterpret_cast<Event*>(data + l.pending);
  state.chunks = data + l.chunks;
  reset_lists(size.chunks);

  void* const links =
      mmap(nullptr, sizeof(std::uint32_t) * size.pending, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (links == MAP_FAILED || !populate(state.header, sizeof(SpoolHeader)) ||
      !populate(state.windows, sizeof(Window) * spool::kMaxWindows) ||
      !populate(state.marks, sizeof(spool::StepMark) * spool::kMaxMarks) ||
      !populate(state.anchors, sizeof(Anchor) * spool::kMaxAnchors) ||
      !populate(state.pending, sizeof(Event) * size.pending) ||
      !ready(state.threads, size.threads - 1, threads_ready) || !ready(state.definitions, 1023, definitions_ready) ||
      !string_table::create(data + l.arena, size.arena_bytes, &state.header->arena_used, &state.header->strings_lost,
                            populate)) {
    why_not = path.empty() ? "no memory for the spool" : "no space for the spool in " + path;
    if (links != MAP_FAILED) munmap(links, sizeof(std::uint32_t) * size.pending);
    forget_mapping();
    return false;
  }
  state.pending_next = static_cast<std::atomic<std::uint32_t>*>(links);
  for (std::uint32_t i = size.pending; i-- > 0;) push(free_pending, i, kPendingNext);

  SpoolHeader& h = *state.header;
  h.version = spool::kFormatVersion;
  h.header_bytes = sizeof(SpoolHeader);
  h.file_bytes = l.total;
  h.threads_at = l.threads;
  h.arena_at = l.arena;
  h.arena_bytes = size.arena_bytes;
  h.definitions_at = l.definitions;
  h.windows_at = l.windows;
  h.marks_at = l.marks;
  h.anchors_at = l.anchors;
  h.pending_at = l.pending;
  h.chunks_at = l.chunks;
  h.chunk_count.store(0, std::memory_order_relaxed);
  h.thread_count = size.threads;
  h.definition_count = size.definitions;
  h.pending_count = size.pending;
  pool_chunks = size.chunks;
  h.clock = clock_detail::kind;
  h.pid = getpid();
  h.pid_start_time = process_start_time(h.pid);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(h.magic, spool::kMagic, sizeof h.magic);
  return true;
}

bool exists() { return state.header != nullptr; }
SpoolHeader& header() { return *state.header; }
const char* data() { return spool_memory::data(); }
std::size_t size() { return spool_memory::size(); }
const std::string& path() { return spool_memory::path(); }

void set_mode(std::uint32_t set, std::uint32_t clear) {
  std::uint32_t now = detail::mode.load(std::memory_order_relaxed);
  while (!detail::mode.compare_exchange_weak(now, (now & ~clear) | set, std::memory_order_release)) {
  }
}

void abandon_in_child() {
  detail::mode.store(0, std::memory_order_relaxed);
  detail::this_thread = nullptr;
}

Window* open_window(Ticks begin, std::uint64_t first_mark) {
  SpoolHeader& h = *state.header;
  detail::last_boundary.store(begin, std::memory_order_relaxed);
  const std::uint64_t number = h.windows.load(std::memory_order_relaxed);
  Window& w = state.windows[number % spool::kMaxWindows];
  const WindowState previous = w.state.load(std::memory_order_acquire);
  if (previous == WindowState::kOpen || previous == WindowState::kClosed) return nullptr;
  w.ended_by.store(spool::WindowEnd::kNone, std::memory_order_relaxed);
  w.number = number;
  w.begin = begin;
  w.end.store(0, std::memory_order_relaxed);
  w.first_mark = first_mark;
  w.end_mark = 0;
  w.dropped_before = dropped();
  w.dropped_after.store(0, std::memory_order_relaxed);
  w.threadless_before = spool::threadless_events(h);
  w.threadless_after.store(0, std::memory_order_relaxed);
  w.last_step_end.store(0, std::memory_order_relaxed);
  w.limit_reason = 0;
  w.complete = 0;
  w.epoch = 0;
  w.file.store(0, std::memory_order_relaxed);
  w.state.store(WindowState::kOpen, std::memory_order_release);
  h.windows.store(number + 1, std::memory_order_release);
  return &w;
}

void close_window(Window& w, Ticks end, std::uint64_t end_mark, spool::WindowEnd why, StringId limit) {
  spool::WindowEnd open = spool::WindowEnd::kNone;
  if (!w.ended_by.compare_exchange_strong(open, why, std::memory_order_acq_rel)) return;
  w.end_mark = end_mark;
  w.limit_reason = limit;
  w.dropped_after.store(dropped(), std::memory_order_relaxed);
  w.threadless_after.store(spool::threadless_events(*state.header), std::memory_order_relaxed);
  w.end.store(end, std::memory_order_relaxed);
  w.state.store(WindowState::kClosed, std::memory_order_release);
}

std::uint64_t add_mark(const spool::StepMark& mark) {
  SpoolHeader& h = *state.header;
  detail::last_boundary.store(mark.ticks, std::memory_order_relaxed);
  const std::uint64_t number = h.marks.load(std::memory_order_relaxed);
  store_words(state.marks[number % spool::kMaxMarks], mark);
  h.marks.store(number + 1, std::memory_order_release);
  return number;
}

void add_anchor(const Anchor& anchor) {
  const std::lock_guard one_at_a_time(anchor_mutex);  // the collector's and the writer's
  SpoolHeader& h = *state.header;
  const std::uint64_t number = h.anchors.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // who sees a part of it sees the number it had before
  store_words(state.anchors[spool::anchor_place(number)], anchor);
  h.anchors.store(number + 1, std::memory_order_release);
}

std::uint64_t dropped() {
  SpoolHeader& h = *state.header;
  std::uint64_t sum = h.dropped.load(std::memory_order_relaxed) + h.open_calls_lost.load(std::memory_order_relaxed) +
                      spool::threadless_events(h);
  const std::uint64_t threads = threads_ready.load(std::memory_order_acquire);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(threads, h.thread_count); ++i) {
    sum += state.threads[i].dropped.load(std::memory_order_relaxed);
  }
  return sum;
}

std::uint32_t chunks_in_pool() { return pool_chunks; }

std::uint64_t events_committed() {
  // In this order: a run that is sealed meanwhile is missing this time, and not there twice.
  std::uint64_t sum = events_in_sealed_runs.load(std::memory_order_acquire);
  const std::uint32_t used = blocks_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::atomic<std::uint32_t>* const count = state.threads[i].live_count.load(std::memory_order_acquire);
    if (count != nullptr) sum += count->load(std::memory_order_relaxed);
  }
  return sum;
}

namespace {

// A thread's calls end one after the other; what CUPTI tells comes in no order. A call that never ended has no end, but
// it began. Never 0 where there is an event: such a chunk is taken back while others read.
Ticks latest_end(std::uint32_t i) {
  const bool in_order = run_at(i, 1).tid != spool::kDeviceLane;
  Ticks latest = 0;
  for_each_run(i, [&](const Event* events, std::uint32_t count) {
    for (std::uint32_t k = in_order && count > 0 ? count - 1 : 0; k < count; ++k) {
      latest = std::max({latest, events[k].begin, events[k].end, Ticks{1}});
    }
  });
  return latest;
}

void collect_sealed() {
  std::uint32_t i = sealed_chunks.exchange(kNoChunk, std::memory_order_acquire);
  const std::size_t first = held().size();
  for (; i != kNoChunk; i = chunk(i).next.load(std::memory_order_relaxed)) {
    chunk(i).latest = latest_end(i);
    held().push_back(i);
  }
  std::reverse(held().begin() + static_cast<std::ptrdiff_t>(first), held().end());
}

void free_chunk(std::uint32_t i) {
  chunk(i).state.store(ChunkState::kFree, std::memory_order_release);
  push(free_chunks, i, kChunkNext);
  free_count.fetch_add(1, std::memory_order_relaxed);
}

// With what the writer needs for its events.
constexpr std::uint64_t kBytesPerChunk = kChunkBytes / 3 * 4;

std::uint64_t held_bytes() {
  const auto tables = static_cast<std::uint64_t>(state.chunks - spool_memory::data()) - state.header->arena_bytes +
                      state.header->arena_used.load(std::memory_order_relaxed);
  return tables + kWriterBytes + populated_chunks * kBytesPerChunk;
}

// Reading the bounds takes dozens of system calls: what was found is used again for a moment.
Room look_for_room(std::uint32_t wanted_free) {
  if (memory_room == nullptr) return {~std::uint64_t{0}, Bound::kHostMemory};
  const bool grows = free_count.load(std::memory_order_relaxed) < wanted_free;
  const std::int64_t now = monotonic_ns();
  if (room_read_ns == 0 || now - room_read_ns > (grows ? kRoomValid_ns : kPressureValid_ns)) {
    room_read_ns = now;
    last_room = memory_room->now(held_bytes(), spool_memory::mapped());
  }
  return last_room;
}

void give_back_chunks(std::uint32_t kept) {
  while (free_count.load(std::memory_order_relaxed) > kept) {
    const std::uint32_t i = pop(free_chunks, kChunkNext);
    if (i == kNoChunk) return;
    free_count.fetch_sub(1, std::memory_order_relaxed);
    char* const begin = reinterpret_cast<char*>(&chunk(i));
    // Its header stays readable. Where a page is as large as a chunk, or the call is refused, all of it stays.
    if (!spool_memory::give_back(begin + sizeof(ChunkHeader), begin + kChunkBytes)) return free_chunk(i);
    chunk(i).state.store(ChunkState::kUnused, std::memory_order_relaxed);
    --populated_chunks;
    unused().push_back(i);
  }
}

}  // namespace

void watch_room(const MemoryRoom* room) { memory_room = room; }

PoolState tend_pool(const std::function<Ticks()>& oldest_needed, std::uint32_t wanted_free) {
  collect_sealed();
  const Ticks keep_from = oldest_needed();
  std::vector<std::uint32_t>& list = held();
  const auto kept = std::remove_if(list.begin(), list.end(), [keep_from](std::uint32_t i) {
    if (keep_from != 0 && chunk(i).latest >= keep_from) return false;
    free_chunk(i);
    return true;
  });
  list.erase(kept, list.end());

  PoolState result;
  const Room room = look_for_room(wanted_free);
  result.pressed_by = room.pressed_by;
  const auto wants_more = [wanted_free] {
    return free_count.load(std::memory_order_relaxed) < wanted_free && !unused().empty();
  };
  // A bounded piece of work: the caller has limits to watch as well, and comes again in a moment.
  std::uint64_t may_populate = kPopulatedAtOnce;
  if (wants_more()) {
    const std::uint64_t held = held_bytes();
    may_populate = std::min(may_populate, room.bytes > held ? (room.bytes - held) / kBytesPerChunk : 0);
    if (may_populate == 0) result.refused_by = room.bound;
  }
  while (wants_more() && may_populate-- > 0) {
    const std::uint32_t i = unused().back();
    const char* const end = reinterpret_cast<char*>(&chunk(i)) + kChunkBytes;
    const bool reached = spool_memory::reach(static_cast<std::uint64_t>(end - spool_memory::data()));
    if (!reached || !populate(&chunk(i), kChunkBytes)) {
      result.refused_by = !reached ? Bound::kAddressSpace : path().empty() ? Bound::kMachine : Bound::kFileSystem;
      break;
    }
    unused().pop_back();
    ++populated_chunks;
    std::atomic<std::uint32_t>& touched = state.header->chunk_count;
    if (i >= touched.load(std::memory_order_relaxed)) touched.store(i + 1, std::memory_order_release);
    free_chunk(i);
  }
  give_back_chunks(room.pressed_by ? kKeptUnderPressure : wanted_free * 4);
  result.free = free_count.load(std::memory_order_relaxed);
  result.held = static_cast<std::uint32_t>(list.size());
  result.unused = static_cast<std::uint32_t>(unused().size());
  return result;
}

void drop_oldest(std::uint32_t chunks) {
  collect_sealed();
  std::vector<std::uint32_t>& list = held();
  const std::size_t n = std::min<std::size_t>(chunks, list.size());
  for (std::size_t k = 0; k < n; ++k) {
    for_each_run(list[k], [](const Event*, std::uint32_t count) {
      state.header->dropped.fetch_add(count, std::memory_order_relaxed);
    });
    free_chunk(list[k]);
  }
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(n));
}

Ticks take_first_drop() { return first_drop.exchange(0, std::memory_order_relaxed); }

Thread* device_lane() { return detail::claim_block(spool::kDeviceLane, "device"); }

}  // namespace profshim::recorder
