// The real function behind ours.
#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// The next definition of `name` after ours: RTLD_NEXT; else, for libraries that came in with dlopen(RTLD_LOCAL), the
/// mapped library of that layer, of PyTorch's functions any library. Null when there is none. Never loads anything.
/// Slow: call once per function.
void* resolve(const char* name, Layer layer);

/// In the mapped libraries of that layer alone: for a name that others may have as well.
void* resolve_in(const char* name, Layer layer);

/// A data symbol (ompi_mpi_comm_world). RTLD_DEFAULT first: an executable may hold a COPY relocation, and the address
/// in the library is then a dead duplicate.
void* resolve_data(const char* name, Layer layer);

}  // namespace profshim::inject
