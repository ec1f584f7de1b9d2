#include "spool_layout.h"

#include <algorithm>

namespace profshim::recorder {

Layout lay_out(const SpoolSize& size) {
  Layout l{};
  std::uint64_t at = 0;
  const auto take = [&at](std::uint64_t bytes) {
    const std::uint64_t here = at;
    at = (at + bytes + 65535) & ~std::uint64_t{65535};
    return here;
  };
  take(sizeof(spool::SpoolHeader));
  l.threads = take(sizeof(spool::Thread) * size.threads);
  l.arena = take(size.arena_bytes);
  l.definitions = take(sizeof(spool::Definition) * size.definitions);
  l.windows = take(sizeof(spool::Window) * spool::kMaxWindows);
  l.marks = take(sizeof(spool::StepMark) * spool::kMaxMarks);
  l.counters = take(sizeof(PerfReading) * size.counters);
  l.anchors = take(sizeof(Anchor) * spool::kMaxAnchors);
  l.pending = take(sizeof(Event) * size.pending);
  l.chunks = take(std::uint64_t{size.chunks} * spool::kChunkBytes);
  l.total = at;
  return l;
}

std::uint64_t spool_bytes(const SpoolSize& size) { return lay_out(size).total; }

bool divide_memory(std::uint64_t host_memory, std::uint64_t other_bytes, bool with_counters, SpoolSize& size) {
  if (host_memory < kLeastRoom) return false;
  host_memory -= std::min(other_bytes, host_memory / 8);
  const std::uint64_t share = host_memory / 32;
  const auto entries = [share](std::size_t bytes, std::uint32_t most) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(share / bytes, most));
  };
  size.arena_bytes = std::clamp<std::uint64_t>(share, 256 << 10, 256 << 20) & ~std::uint64_t{4095};
  size.threads = entries(sizeof(spool::Thread), spool::kMaxThreads);
  size.definitions = entries(sizeof(spool::Definition), spool::kMaxDefinitions);
  size.pending = entries(sizeof(Event), spool::kMaxPending);
  size.counters = with_counters ? entries(4 * sizeof(PerfReading), spool::kMaxMarks) : 0;  // a quarter of a share
  size.chunks = 0;
  // A quarter is for the writer's index of events.
  const std::uint64_t budget = (host_memory - kWriterBytes) / 4 * 3, tables = spool_bytes(size);
  size.chunks = static_cast<std::uint32_t>(std::min<std::uint64_t>((budget - tables) / spool::kChunkBytes, 1u << 24));
  return true;
}

}  // namespace profshim::recorder
