// Properties of a collective or message that follow from its name, as PyTorch, NCCL, gloo and MPI spell it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

/// Factor from algorithm bandwidth to bus bandwidth for n ranks (bus_factor()): 1, (n-1)/n or 2(n-1)/n.
enum class Bus : std::uint8_t { kUnknown, kOne, kOthers, kTwiceOthers };

struct CollectiveFamily {
  Bus bus = Bus::kUnknown;
  bool waits_for_all = false;  // no rank leaves before all ranks have entered
  bool message = false;        // between two ranks: send or recv
  bool times_ranks = false;    // MPI gives the size of one rank's part; the size is that times the number of ranks
  bool uneven = false;         // MPI gives the size of this rank's part; the parts of other ranks have other sizes
};

CollectiveFamily collective_family(std::string_view function);

/// Returns the letters and digits of a name in lower case: "allreduce" for all_reduce and AllReduce.
std::string letters(std::string_view function);

/// Returns true if a kernel of that name is a collective kernel of NCCL, RCCL or vLLM.
bool is_collective_kernel(std::string_view name);

}  // namespace profshim::analysis_detail
