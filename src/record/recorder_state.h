#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "profshim/spool/format.h"
#include "spool_memory.h"

namespace profshim::recorder {

struct State {
  spool::SpoolHeader* header = nullptr;
  spool::Thread* threads = nullptr;
  spool::Definition* definitions = nullptr;
  spool::Window* windows = nullptr;
  spool::StepMark* marks = nullptr;
  PerfReading* counters = nullptr;
  Anchor* anchors = nullptr;
  Event* pending = nullptr;
  char* chunks = nullptr;
  std::atomic<std::uint32_t>* pending_next = nullptr;  // links of the free slots of `pending`
  pthread_key_t thread_end{};
  bool has_key = false;
};
extern constinit State state;
/// Keeps the pthread key.
void forget_tables();

/// Gives pages to entries up to `index`. Returns false without memory. Thread-safe.
template <class T>
bool ready(T* table, std::uint64_t index, std::atomic<std::uint64_t>& entries_ready) {
  if (index < entries_ready.load(std::memory_order_acquire)) return true;
  const std::uint64_t step = std::max<std::uint64_t>(1, 65536 / sizeof(T));
  const std::uint64_t until = (index / step + 1) * step;
  if (!spool_memory::populate(table, until * sizeof(T))) return false;
  std::uint64_t known = entries_ready.load(std::memory_order_relaxed);
  while (known < until && !entries_ready.compare_exchange_weak(known, until, std::memory_order_release)) {
  }
  return true;
}

}  // namespace profshim::recorder
