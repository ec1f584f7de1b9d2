// Finds the real functions behind our exports. Takes the loader's lock.
#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Searches RTLD_NEXT, then the mapped libraries of `layer`, which RTLD_NEXT misses after dlopen(RTLD_LOCAL), then for
/// Layer::kTorch all libraries. Null if not found. Loads nothing; may allocate.
void* resolve(const char* name, Layer layer);

/// Searches only the libraries of `layer`: for names that other libraries may define too.
void* resolve_in(const char* name, Layer layer);

/// Finds a variable. RTLD_DEFAULT comes first: after a COPY relocation the variable in the library is an unused
/// duplicate.
void* resolve_data(const char* name, Layer layer);

/// `path`: path or file name. False for the libraries of Fortran bindings, which need an MPI library.
bool is_mpi_library(const char* path);

}  // namespace profshim::inject
