// Bus bandwidth of collectives as nccl-tests defines it (doc/PERFORMANCE.md there). For the writer, which puts it into
// kernel events, and the tool, which computes it for whole runs. Any thread.
#pragma once

#include <cstdint>

namespace profshim {

/// Returns bus bandwidth / algorithm bandwidth: `others` x (ranks - 1) / ranks, or 1 if `others` is 0. `others` is 2
/// for an allreduce, 1 for functions that move the data of all other ranks once, 0 for broadcast, reduce and messages.
/// `ranks` is at least 1.
constexpr double bus_factor(int others, std::int64_t ranks) {
  return others == 0 ? 1 : others * (static_cast<double>(ranks - 1) / static_cast<double>(ranks));
}

}  // namespace profshim
