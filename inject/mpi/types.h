#pragma once

#include <cstdint>

#include "abi.h"

namespace profshim::mpi {

struct Datatype {
  std::uint16_t id = 0;   // 0 = MPI_DATATYPE_NULL, or no id left
  std::int64_t size = 0;  // bytes
};

/// Asks MPI at the first use of a handle. Call inside a LayerScope, on any thread.
Datatype datatype_of(Handle type);
std::uint16_t reduction_of(Handle op);

/// Call before the handle is freed: MPI may reuse it.
void forget_datatype(Handle type);
void forget_reduction(Handle op);

}  // namespace profshim::mpi
