// A Treiber stack of free indices. `list` holds tag << 32 | index of the head. Each change increments the tag (against
// ABA).
#pragma once

#include <atomic>
#include <cstdint>

#include "profshim/spool/format.h"

namespace profshim::recorder {

template <class NextOf>
std::uint32_t pop(std::atomic<std::uint64_t>& list, NextOf next_of) {
  std::uint64_t head = list.load(std::memory_order_acquire);
  for (;;) {
    const auto index = static_cast<std::uint32_t>(head);
    if (index == spool::kNoChunk) return spool::kNoChunk;
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

}  // namespace profshim::recorder
