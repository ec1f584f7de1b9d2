// Bus bandwidth of collectives as in nccl-tests (doc/PERFORMANCE.md). Used by writer and tool. Any thread.
#pragma once

#include <cstdint>

namespace profshim {

/// Returns bus bandwidth / algorithm bandwidth: `others` x (ranks - 1) / ranks; 1 if `others` is 0. `others`: 2 for
/// allreduce, 1 for functions that move the data of all other ranks once, 0 for broadcast, reduce and messages. `ranks`
/// >= 1.
constexpr double bus_factor(int others, std::int64_t ranks) {
  return others == 0 ? 1 : others * (static_cast<double>(ranks - 1) / static_cast<double>(ranks));
}

}  // namespace profshim
