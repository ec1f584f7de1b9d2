// Numbers the collectives of one communicator.
#pragma once

#include <atomic>
#include <cstdint>

namespace profshim::inject {

/// Returns the number of the collective that begins now: 1, 2, ... MPI and NCCL forbid concurrent collectives on one
/// communicator, so no other thread counts at the same time.
inline std::uint32_t next_sequence(std::atomic<std::uint32_t>& last) {
  const std::uint32_t number = last.load(std::memory_order_relaxed) + 1;
  last.store(number, std::memory_order_relaxed);
  return number;
}

}  // namespace profshim::inject
