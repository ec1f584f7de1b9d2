// Datatypes and reduction operations: handle -> id and size, asked of MPI at first sight only.
#pragma once

#include <cstdint>

#include "abi.h"

namespace profshim::mpi {

struct Datatype {
  std::uint16_t id = 0;   // Definition of kind kDatatype; 0 = no room was left
  std::int64_t size = 0;  // bytes of one element
};

/// Any thread, inside a LayerScope.
Datatype datatype_of(Handle type);
std::uint16_t reduction_of(Handle op);

/// The handle is about to be freed and may come back as something else.
void forget_datatype(Handle type);
void forget_reduction(Handle op);

}  // namespace profshim::mpi
