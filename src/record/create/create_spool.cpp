#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "parents_spool.h"
#include "profshim/base/process_identity.h"
#include "profshim/recorder_control.h"
#include "record/chunks.h"
#include "record/recorder_state.h"
#include "record/spool_layout.h"
#include "record/spool_memory.h"
#include "record/tables/tables.h"
#include "record/thread_blocks.h"

namespace profshim::recorder {

using spool::SpoolHeader;
using spool::Thread;
using spool::Window;
using spool_memory::populate;

namespace {

constexpr std::uint64_t kMappedAtFirst = 4 << 20;  // bytes of chunks

void point_to_tables(const Layout& l) {
  char* const data = spool_memory::data();
  state.header = reinterpret_cast<SpoolHeader*>(data);
  state.threads = reinterpret_cast<Thread*>(data + l.threads);
  state.definitions = reinterpret_cast<spool::Definition*>(data + l.definitions);
  state.windows = reinterpret_cast<Window*>(data + l.windows);
  state.marks = reinterpret_cast<spool::StepMark*>(data + l.marks);
  state.counters = reinterpret_cast<PerfReading*>(data + l.counters);
  state.anchors = reinterpret_cast<Anchor*>(data + l.anchors);
  state.pending = reinterpret_cast<Event*>(data + l.pending);
  state.chunks = data + l.chunks;
}

bool populate_tables(const Layout& l, const SpoolSize& size) {
  return populate(state.header, sizeof(SpoolHeader)) && populate(state.windows, sizeof(Window) * spool::kMaxWindows) &&
         populate(state.marks, sizeof(spool::StepMark) * spool::kMaxMarks) &&
         (size.counters == 0 || populate(state.counters, sizeof(PerfReading) * size.counters)) &&
         populate(state.anchors, sizeof(Anchor) * spool::kMaxAnchors) &&
         populate(state.pending, sizeof(Event) * size.pending) && ready_thread_blocks(size.threads) &&
         ready_first_definitions() &&
         string_table::create(spool_memory::data() + l.arena, size.arena_bytes, &state.header->arena_used,
                              &state.header->strings_lost, populate, parents_texts()) &&
         create_pending_slots(size.pending);
}

void write_header(const Layout& l, const SpoolSize& size) {
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
  h.counters_at = l.counters;
  h.anchors_at = l.anchors;
  h.pending_at = l.pending;
  h.chunks_at = l.chunks;
  h.chunk_count.store(0, std::memory_order_relaxed);
  h.thread_count = size.threads;
  h.definition_count = size.definitions;
  h.pending_count = size.pending;
  h.counter_count = size.counters;
  h.clock = clock_detail::kind;
  h.pid = getpid();
  h.pid_start_time = process_start_time(h.pid);
  // Readers recognize a spool by its magic: write it last.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(h.magic, spool::kMagic, sizeof h.magic);
}

}  // namespace

bool create_spool(const std::string& path, const SpoolSize& size, std::string& why_not) {
  const Layout l = lay_out(size);
  if (!state.has_key) {
    if (pthread_key_create(&state.thread_end, on_thread_end) != 0) {
      why_not = "the process has no free pthread key (PTHREAD_KEYS_MAX)";
      return false;
    }
    state.has_key = true;
  }
  const std::uint64_t first = std::min(l.total, l.chunks + kMappedAtFirst);
  if (!spool_memory::map(path, l.total, first, why_not)) return false;
  point_to_tables(l);
  spool_memory::keep_sparse(spool_memory::data() + l.arena, size.arena_bytes);
  reset_runs(size.chunks);
  reset_definitions();
  reset_thread_blocks();
  reset_chunk_pool(size.chunks);
  if (!populate_tables(l, size)) {
    why_not = path.empty() ? "no host memory is left" : "no space left for " + path;
    spool_memory::unmap();
    forget_tables();
    return false;
  }
  write_header(l, size);
  return true;
}

}  // namespace profshim::recorder
