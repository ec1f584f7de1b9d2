#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profshim::analysis_detail {

/// Ratio of bus to algorithm bandwidth with n ranks: 1, (n-1)/n or 2(n-1)/n.
enum class Bus : std::uint8_t { kUnknown, kOne, kOthers, kTwiceOthers };

struct CollectiveFamily {
  Bus bus = Bus::kUnknown;
  bool waits_for_all = false;  // no rank leaves before all have entered
  bool message = false;        // send or recv
  bool times_ranks = false;    // MPI gives one rank's bytes: multiply by the number of ranks
  bool uneven = false;         // MPI gives this rank's bytes; other ranks may send more or less
};

CollectiveFamily collective_family(std::string_view function);

/// Returns "allreduce" for all_reduce and AllReduce.
std::string letters(std::string_view function);

}  // namespace profshim::analysis_detail
