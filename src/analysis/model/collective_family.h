// What the name of a collective says of it, as PyTorch, NCCL, gloo and MPI spell it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

/// By what the bandwidth of its algorithm is to be multiplied (nccl-tests).
enum class Bus : std::uint8_t { kUnknown, kOne, kOthers, kTwiceOthers };

struct CollectiveFamily {
  Bus bus = Bus::kUnknown;
  bool waits_for_all = false;  // nobody leaves before all have come
  bool message = false;
  bool times_ranks = false;  // MPI tells one rank's part of it
  bool uneven = false;       // MPI tells this rank's part, others have other ones
};

CollectiveFamily collective_family(std::string_view function);

/// "allreduce" of all_reduce and AllReduce.
std::string letters(std::string_view function);

}  // namespace profshim::analysis_detail
