// Datatypes and reduction operations: handle -> id and size. MPI is asked at the first use of a handle only.
#pragma once

#include <cstdint>

#include "abi.h"

namespace profshim::mpi {

struct Datatype {
  std::uint16_t id = 0;   // Definition of kind kDatatype; 0 = no id is left
  std::int64_t size = 0;  // bytes of one element
};

/// To be called on any thread, inside a LayerScope.
Datatype datatype_of(Handle type);
std::uint16_t reduction_of(Handle op);

/// To be called before the handle is freed: MPI may reuse it.
void forget_datatype(Handle type);
void forget_reduction(Handle op);

}  // namespace profshim::mpi
