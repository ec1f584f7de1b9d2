// Finds the real functions behind this library's own exports. Not for the hot path: lookups take the loader's lock.
#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Returns the next definition of `name` after this library's (RTLD_NEXT). If there is none, searches the mapped
/// libraries of `layer`, because a library opened with dlopen(RTLD_LOCAL) is not in the global scope. For
/// Layer::kTorch, finally searches all mapped libraries. Null if not found. Never loads a library. Takes the loader's
/// lock and may allocate: call once per function.
void* resolve(const char* name, Layer layer);

/// Searches only the mapped libraries of `layer`: for names that other libraries may define too.
void* resolve_in(const char* name, Layer layer);

/// Returns the address of a data symbol such as ompi_mpi_comm_world. Searches RTLD_DEFAULT first: if the executable has
/// a COPY relocation, the variable in the library is an unused duplicate.
void* resolve_data(const char* name, Layer layer);

/// Returns true if this is the path or file name of an MPI library, without those of its Fortran bindings, which need
/// it.
bool is_mpi_library(const char* path);

}  // namespace profshim::inject
