#include "thread_blocks.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "chunks.h"
#include "profshim/recorder_control.h"
#include "recorder_state.h"

namespace profshim::recorder {

using spool::kNoChunk;
using spool::SpoolHeader;
using spool::Thread;
using spool::ThreadSlot;

namespace {

// Value of blocks_freed when this thread last found no free block; 0 = never.
thread_local constinit std::uint32_t refused_at __attribute__((tls_model("initial-exec"))) = 0;
constinit std::atomic<std::uint32_t> blocks_used{0};  // blocks from this index on were never claimed
constinit std::atomic<std::uint64_t> threads_ready{0};
constinit std::atomic<std::uint32_t> blocks_freed{1};
constinit std::atomic<void (*)(const char*)> thread_watcher{nullptr};
constinit std::atomic<void (*)(Thread&, Ticks)> end_watcher{nullptr};

Thread* claim_block(std::int32_t tid, const char* name) {
  if (process_words.mode.load(std::memory_order_acquire) == 0) return nullptr;
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

}  // namespace

namespace {

/// The end of a phase is always seen: here its thread ends.
void end_open_phases(Thread& t, Ticks now) {
  for (std::uint32_t i = t.open_calls; i-- > 0;) {
    Event& call = t.open[i];
    if (call.begin == 0 || (call.flags & kPhase) == 0) continue;
    if (call.hook != HookId::kPhaseRange || call.phase.is_life == 0) call.flags |= kUnfinished;
    end_at(t, call, now);
  }
}

}  // namespace

void on_thread_end(void* block) {
  auto* const t = static_cast<Thread*>(block);
  if (detail::this_thread != t || mode() == 0) return;
  detail::this_thread = nullptr;
  const Ticks now = ticks();
  end_open_phases(*t, now);
  if (void (*const watcher)(Thread&, Ticks) = end_watcher.load(std::memory_order_acquire)) watcher(*t, now);
  leave_rest(*t);
  for (Event& call : t->open) call.begin = 0;
  t->open_calls = 0;
  t->slot.store(ThreadSlot::kFree, std::memory_order_release);
  blocks_freed.fetch_add(1, std::memory_order_release);
}

bool ready_thread_blocks(std::uint32_t threads) { return ready(state.threads, threads - 1, threads_ready); }

void reset_thread_blocks() {
  threads_ready = 0;
  blocks_used = 0;
  blocks_freed.fetch_add(1);
}

namespace detail {

Thread* register_thread() {
  Thread* const t = claim_block(static_cast<std::int32_t>(syscall(SYS_gettid)), nullptr);
  if (t == nullptr) return nullptr;
  pthread_setspecific(state.thread_end, t);
  this_thread = t;
  if (void (*const watcher)(const char*) = thread_watcher.load(std::memory_order_acquire)) watcher(t->name);
  return t;
}

void count_threadless() {
  const auto spread = reinterpret_cast<std::uintptr_t>(&refused_at) >> 12;
  state.header->threadless[spread % spool::kThreadlessCounts].events.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace detail

void watch_threads(void (*function)(const char* name)) { thread_watcher.store(function, std::memory_order_release); }
void watch_thread_ends(void (*function)(Thread&, Ticks)) { end_watcher.store(function, std::memory_order_release); }

Thread* device_block() { return claim_block(spool::kDeviceTid, "device"); }
Thread* system_block() { return claim_block(spool::kSystemTid, "system"); }

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

std::uint64_t events_committed() {
  // Read this sum first: a run sealed meanwhile is then missing, not counted twice.
  std::uint64_t sum = committed_in_sealed_runs();
  const std::uint32_t used = blocks_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::atomic<std::uint32_t>* const count = state.threads[i].live_count.load(std::memory_order_acquire);
    if (count != nullptr) sum += count->load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace profshim::recorder
