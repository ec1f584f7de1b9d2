#pragma once

#include <atomic>
#include <cstdint>

namespace profshim::inject {

/// Returns 1, 2, ... Not an atomic increment: MPI and NCCL forbid concurrent collectives on one communicator.
inline std::uint32_t next_sequence(std::atomic<std::uint32_t>& last) {
  const std::uint32_t number = last.load(std::memory_order_relaxed) + 1;
  last.store(number, std::memory_order_relaxed);
  return number;
}

}  // namespace profshim::inject
