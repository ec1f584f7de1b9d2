// The recorder: the one piece of process-wide state of the hot path. See recorder.h for what runs where.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "profshim/recorder_control.h"
#include "profshim/shared_words.h"
#include "string_table.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace profshim::recorder {

using spool::ChunkHeader;
using spool::ChunkState;
using spool::kChunkBytes;
using spool::kEventsPerChunk;
using spool::kNoChunk;
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
  char* data = nullptr;
  std::size_t size = 0;
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
std::string& spool_path() {  // never destroyed: threads outlive static destructors
  static std::string* const path = new std::string;
  return *path;
}

// Free lists hold (tag << 32 | index): the tag makes a pop safe against an index that left and came back.
constinit std::atomic<std::uint64_t> free_chunks{kNoChunk};
constinit std::atomic<std::uint64_t> free_pending{kNoChunk};
constinit std::atomic<std::uint32_t> sealed_chunks{kNoChunk};
constinit std::atomic<std::uint32_t> free_count{0};
constinit std::atomic<Ticks> first_drop{0};
constinit std::atomic<std::uint64_t> definitions_ready{0};
constinit std::atomic<std::uint64_t> threads_ready{0};
constinit std::atomic<std::uint32_t> blocks_freed{1};
constinit std::atomic<StringId> problems_said[64] = {};  // more than there are sentences in the whole library
constinit std::mutex anchor_mutex;
constinit std::uint32_t pool_chunks = 0;
constexpr std::size_t kHeaderPage = 4096;        // of a chunk that is given back: its header stays readable
constexpr std::uint32_t kPopulatedAtOnce = 128;  // 8 MiB, some 3 ms
constexpr std::uint64_t kShareOfRoom = 16;       // the other ranks of this machine take from the same room
constexpr std::uint64_t kLeftToTheJob = 256 << 20;

// Collector thread only.
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
Event* events_of(std::uint32_t i) { return reinterpret_cast<Event*>(state.chunks + std::size_t{i} * kChunkBytes) + 1; }

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

// Gives a range of the mapping real pages. A hole that is touched when the file system is full would raise SIGBUS in
// the job; asking first turns that into an answer.
bool populate(void* at, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(at) + bytes + page - 1) & ~(page - 1);
  if (madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;  // EINVAL: a kernel before 5.14
  // Opened for the moment only: a descriptor that stays open could be closed by the job and its number reused.
  const int fd = open_high(spool_path().c_str(), O_RDWR);
  if (fd < 0) return false;
  const auto offset = static_cast<off_t>(begin - reinterpret_cast<std::uintptr_t>(state.data));
  const int refused = posix_fallocate(fd, offset, static_cast<off_t>(end - begin));
  close(fd);
  if (refused != 0) return false;
  for (std::uintptr_t p = begin; p < end; p += page) {
    reinterpret_cast<std::atomic<char>*>(p)->fetch_or(0, std::memory_order_relaxed);
  }
  return true;
}

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

void seal_current(Thread& t) {
  if (t.chunk == kNoChunk) return;
  ChunkHeader& c = chunk(t.chunk);
  c.state.store(ChunkState::kSealed, std::memory_order_release);
  std::uint32_t head = sealed_chunks.load(std::memory_order_relaxed);
  do {
    c.next.store(head, std::memory_order_relaxed);
  } while (!sealed_chunks.compare_exchange_weak(head, t.chunk, std::memory_order_release, std::memory_order_relaxed));
  t.chunk = kNoChunk;
}

void on_thread_end(void* block) {
  auto* const t = static_cast<Thread*>(block);
  if (detail::this_thread != t || detail::mode.load(std::memory_order_relaxed) == 0) return;
  detail::this_thread = nullptr;
  seal_current(*t);
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
    t.count = nullptr;
    t.chunk = kNoChunk;
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
  const std::uint32_t i = pop(free_chunks, kChunkNext);
  if (i == kNoChunk) {
    t.dropped.store(t.dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    Ticks none = 0;
    if (first_drop.load(std::memory_order_relaxed) == 0) first_drop.compare_exchange_strong(none, ticks());
    return false;
  }
  free_count.fetch_sub(1, std::memory_order_relaxed);
  ChunkHeader& c = chunk(i);
  c.count.store(0, std::memory_order_relaxed);
  c.thread = t.index;
  c.tid = t.tid.load(std::memory_order_relaxed);
  c.sequence = t.sequence.load(std::memory_order_relaxed);
  t.sequence.store(c.sequence + 1, std::memory_order_relaxed);
  std::memcpy(c.name, t.name, sizeof c.name);
  c.state.store(ChunkState::kOwned, std::memory_order_release);
  t.chunk = i;
  t.count = &c.count;
  t.next = events_of(i);
  t.chunk_end = t.next + kEventsPerChunk;
  return true;
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

std::uint64_t room_in(const std::string& path) {
  struct statvfs s {};
  if (statvfs(path.c_str(), &s) != 0) return 0;
  const std::uint64_t available = std::uint64_t{s.f_bavail} * s.f_frsize;
  const std::uint64_t left = std::min(std::uint64_t{s.f_blocks} * s.f_frsize / 4, kLeftToTheJob);
  return available > left ? available - left : 0;
}

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
  if (host_memory < kLeastMemory) return false;
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

std::string reason(const char* what, int error) { return std::string(what) + ": " + std::strerror(error); }

// A file larger than RLIMIT_FSIZE is answered with SIGXFSZ, which ends the job: look before.
bool file_size_allowed(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

bool map_file(const std::string& path, std::uint64_t bytes, std::string& why_not) {
  if (!file_size_allowed(bytes)) {
    why_not = "RLIMIT_FSIZE does not allow a file of " + format_size(bytes);
    return false;
  }
  const int fd = open_high(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) {
    why_not = reason(("cannot create " + path).c_str(), errno);
    return false;
  }
  void* data = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) {
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  const int error = errno;
  close(fd);
  if (data == MAP_FAILED) {
    unlink(path.c_str());
    why_not = reason(("cannot map " + path).c_str(), error);
    return false;
  }
  state.data = static_cast<char*>(data);
  state.size = bytes;
  spool_path() = path;
  return true;
}

void forget_mapping() {
  if (state.data != nullptr) munmap(state.data, state.size);
  unlink(spool_path().c_str());
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
  blocks_freed.fetch_add(1);
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
  if (!map_file(path, l.total, why_not)) return false;
  state.header = reinterpret_cast<SpoolHeader*>(state.data);
  state.threads = reinterpret_cast<Thread*>(state.data + l.threads);
  state.definitions = reinterpret_cast<spool::Definition*>(state.data + l.definitions);
  state.windows = reinterpret_cast<Window*>(state.data + l.windows);
  state.marks = reinterpret_cast<spool::StepMark*>(state.data + l.marks);
  state.anchors = reinterpret_cast<Anchor*>(state.data + l.anchors);
  state.pending = reinterpret_cast<Event*>(state.data + l.pending);
  state.chunks = state.data + l.chunks;
  reset_lists(size.chunks);

  void* const links =
      mmap(nullptr, sizeof(std::uint32_t) * size.pending, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (links == MAP_FAILED || !populate(state.header, sizeof(SpoolHeader)) ||
      !populate(state.windows, sizeof(Window) * spool::kMaxWindows) ||
      !populate(state.marks, sizeof(spool::StepMark) * spool::kMaxMarks) ||
      !populate(state.anchors, sizeof(Anchor) * spool::kMaxAnchors) ||
      !populate(state.pending, sizeof(Event) * size.pending) ||
      !ready(state.threads, size.threads - 1, threads_ready) || !ready(state.definitions, 1023, definitions_ready) ||
      !string_table::create(state.data + l.arena, size.arena_bytes, &state.header->arena_used,
                            &state.header->strings_lost, populate)) {
    why_not = "no space for the spool in " + path;
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
const char* data() { return state.data; }
std::size_t size() { return state.size; }
const std::string& path() { return spool_path(); }

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
  w.last_step_end.store(0, std::memory_order_relaxed);
  w.limit_reason = 0;
  w.complete = 0;
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
  std::uint64_t sum = h.dropped.load(std::memory_order_relaxed) + h.open_calls_lost.load(std::memory_order_relaxed);
  const std::uint64_t threads = threads_ready.load(std::memory_order_acquire);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(threads, h.thread_count); ++i) {
    sum += state.threads[i].dropped.load(std::memory_order_relaxed);
  }
  return sum;
}

std::uint32_t chunks_in_pool() { return pool_chunks; }

std::uint64_t events_held() {
  const std::uint64_t total = pool_chunks;
  const std::uint64_t idle = free_count.load(std::memory_order_relaxed) + unused().size();
  return (total > idle ? total - idle : 0) * kEventsPerChunk;
}

namespace {

Ticks latest_end(std::uint32_t i) {
  const std::uint32_t n = std::min(chunk(i).count.load(std::memory_order_acquire), kEventsPerChunk);
  Ticks latest = 0;
  // A call that never ended has no end, but it began.
  for (const Event* e = events_of(i); e != events_of(i) + n; ++e) latest = std::max({latest, e->begin, e->end});
  return latest;
}

void collect_sealed() {
  std::uint32_t i = sealed_chunks.exchange(kNoChunk, std::memory_order_acquire);
  const std::size_t first = held().size();
  for (; i != kNoChunk; i = chunk(i).next.load(std::memory_order_relaxed)) {
    if (chunk(i).tid == spool::kDeviceLane) chunk(i).latest = latest_end(i);
    held().push_back(i);
  }
  std::reverse(held().begin() + static_cast<std::ptrdiff_t>(first), held().end());
}

// A thread's calls end one after the other; what CUPTI tells comes in no order.
Ticks last_end(std::uint32_t i) {
  if (chunk(i).tid == spool::kDeviceLane) return chunk(i).latest;
  const std::uint32_t n = chunk(i).count.load(std::memory_order_acquire);
  return n == 0 ? 0 : events_of(i)[std::min(n, kEventsPerChunk) - 1].end;
}

void free_chunk(std::uint32_t i) {
  chunk(i).state.store(ChunkState::kFree, std::memory_order_release);
  push(free_chunks, i, kChunkNext);
  free_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

PoolState tend_pool(const std::function<Ticks()>& oldest_needed, std::uint32_t wanted_free) {
  collect_sealed();
  const Ticks keep_from = oldest_needed();
  std::vector<std::uint32_t>& list = held();
  const auto kept = std::remove_if(list.begin(), list.end(), [keep_from](std::uint32_t i) {
    if (keep_from != 0 && last_end(i) >= keep_from) return false;
    free_chunk(i);
    return true;
  });
  list.erase(kept, list.end());

  PoolState result;
  const auto wants_more = [wanted_free] {
    return free_count.load(std::memory_order_relaxed) < wanted_free && !unused().empty();
  };
  // A bounded piece of work: the caller has limits to watch as well, and comes again in a moment.
  std::uint64_t may_populate = kPopulatedAtOnce;
  if (wants_more()) {
    may_populate = std::min(may_populate, room_in(spool_path()) / kShareOfRoom / kChunkBytes);
    result.out_of_memory = may_populate == 0;
  }
  while (wants_more() && may_populate-- > 0) {
    const std::uint32_t i = unused().back();
    if (!populate(&chunk(i), kChunkBytes)) {
      result.out_of_memory = true;
      break;
    }
    unused().pop_back();
    std::atomic<std::uint32_t>& touched = state.header->chunk_count;
    if (i >= touched.load(std::memory_order_relaxed)) touched.store(i + 1, std::memory_order_release);
    free_chunk(i);
  }
  while (free_count.load(std::memory_order_relaxed) > wanted_free * 4) {
    const std::uint32_t i = pop(free_chunks, kChunkNext);
    if (i == kNoChunk) break;
    free_count.fetch_sub(1, std::memory_order_relaxed);
    chunk(i).state.store(ChunkState::kUnused, std::memory_order_relaxed);
    madvise(reinterpret_cast<char*>(&chunk(i)) + kHeaderPage, kChunkBytes - kHeaderPage, MADV_REMOVE);
    unused().push_back(i);
  }
  result.free = free_count.load(std::memory_order_relaxed);
  result.held = static_cast<std::uint32_t>(list.size());
  result.unused = static_cast<std::uint32_t>(unused().size());
  return result;
}

void drop_oldest(std::uint32_t count) {
  collect_sealed();
  std::vector<std::uint32_t>& list = held();
  const std::size_t n = std::min<std::size_t>(count, list.size());
  for (std::size_t k = 0; k < n; ++k) {
    state.header->dropped.fetch_add(chunk(list[k]).count.load(std::memory_order_relaxed), std::memory_order_relaxed);
    free_chunk(list[k]);
  }
  list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(n));
}

Ticks take_first_drop() { return first_drop.exchange(0, std::memory_order_relaxed); }

Thread* device_lane() { return detail::claim_block(spool::kDeviceLane, "device"); }

double measure_event_cost_ns() {
  // On a block and a chunk of its own, through the same inline functions that the hooks use.
  static constexpr int kRounds = 20000;
  struct Scratch {
    Thread thread;
    ChunkHeader chunk;
    Event events[64];
  };
  auto* const memory = mmap(nullptr, sizeof(Scratch), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  auto* const s = static_cast<Scratch*>(memory);
  s->thread.count = &s->chunk.count;
  s->thread.chunk_end = s->events + 64;
  const std::int64_t start = monotonic_ns();
  for (int i = 0; i < kRounds; ++i) {
    if (i % 64 == 0) s->thread.next = s->events;
    Event* const call = open_call(s->thread);
    *call = Event{};
    begin(*call);
    end(s->thread, *call);
  }
  const std::int64_t spent = monotonic_ns() - start;
  munmap(memory, sizeof(Scratch));
  return static_cast<double>(spent) / kRounds;
}

}  // namespace profshim::recorder
