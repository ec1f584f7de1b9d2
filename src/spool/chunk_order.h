// Where an event's second half lies: behind it in its chunk, or first in the next chunk of its thread.
#pragma once

#include <unordered_map>

#include "profshim/spool.h"

namespace profshim::spool {

class ChunkOrder {
 public:
  explicit ChunkOrder(const View& view) : view_(view) {}

  void add(std::uint32_t chunk) {
    const ChunkHeader& c = view_.chunk(chunk);
    chunk_by_order_[std::uint64_t{c.thread} << 32 | c.sequence] = chunk;
  }

  /// The kContinuation of `e`; null when it has none, when it is lost, and for an event that lies in no chunk.
  const Event* continuation_of(const Event& e) const {
    if ((e.flags & kContinues) == 0) return nullptr;
    const auto* const base = reinterpret_cast<const char*>(view_.events(0)) - sizeof(ChunkHeader);
    const auto offset = reinterpret_cast<const char*>(&e) - base;
    if (offset < 0 || static_cast<std::uint64_t>(offset) >= std::uint64_t{view_.header().chunk_count} * kChunkBytes) {
      return nullptr;  // an unfinished copy
    }
    const auto chunk = static_cast<std::uint32_t>(offset / kChunkBytes);
    const Event* next = &e + 1;
    if (next >= view_.events(chunk) + kEventsPerChunk) {
      const ChunkHeader& c = view_.chunk(chunk);
      const auto at = chunk_by_order_.find(std::uint64_t{c.thread} << 32 | (c.sequence + 1));
      if (at == chunk_by_order_.end()) return nullptr;
      next = view_.events(at->second);
    }
    return next->hook == HookId::kContinuation ? next : nullptr;
  }

 private:
  const View& view_;
  std::unordered_map<std::uint64_t, std::uint32_t> chunk_by_order_;  // thread << 32 | sequence
};

}  // namespace profshim::spool
