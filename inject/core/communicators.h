#pragma once

#include <atomic>
#include <cstdint>

#include "profshim/event.h"

namespace profshim::inject {

/// Returns 1, 2, ... Not an atomic increment: MPI and NCCL forbid concurrent collectives on one communicator.
inline std::uint32_t next_sequence(std::atomic<std::uint32_t>& last) {
  const std::uint32_t number = last.load(std::memory_order_relaxed) + 1;
  last.store(number, std::memory_order_relaxed);
  return number;
}

/// Returns a communicator's world ranks as interned text: "[0, 1, 2]" if `size` and `rank` are those of the job, "[3]"
/// if it has only this process. Otherwise 0.
StringId world_ranks_text(std::int32_t size, std::int32_t rank);

}  // namespace profshim::inject
