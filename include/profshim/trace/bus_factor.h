// The bus bandwidth of collectives, as nccl-tests defines it (doc/PERFORMANCE.md).
#pragma once

#include <cstdint>

namespace profshim {

/// Returns bus bandwidth / algorithm bandwidth. `others`: 2 for allreduce, 1 for functions that move the data of all
/// other ranks once, 0 for broadcast, reduce and messages.
constexpr double bus_factor(int others, std::int64_t ranks) {
  return others == 0 ? 1 : others * (static_cast<double>(ranks - 1) / static_cast<double>(ranks));
}

}  // namespace profshim
