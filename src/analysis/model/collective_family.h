// Finds properties of collectives by their names in PyTorch, NCCL, gloo and MPI.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

/// Bus / algorithm bandwidth of n ranks: 1, (n-1)/n or 2(n-1)/n.
enum class Bus : std::uint8_t { kUnknown, kOne, kOthers, kTwiceOthers };

struct CollectiveFamily {
  Bus bus = Bus::kUnknown;
  bool waits_for_all = false;  // no rank leaves before all have entered
  bool message = false;        // send or recv
  bool times_ranks = false;    // MPI's bytes are one rank's part: multiply by the ranks
  bool uneven = false;         // MPI's bytes are this rank's part; others differ
};

CollectiveFamily collective_family(std::string_view function);

/// "allreduce" for all_reduce and AllReduce.
std::string letters(std::string_view function);

/// True for collective kernels of NCCL, RCCL and vLLM.
bool is_collective_kernel(std::string_view name);

}  // namespace profshim::analysis_detail
