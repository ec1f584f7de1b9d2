#pragma once

#include "profshim/event.h"

namespace profshim::inject {

/// Searches RTLD_NEXT, then the mapped libraries of `layer`, which RTLD_NEXT misses after dlopen(RTLD_LOCAL), then for
/// Layer::kTorch all libraries. Null if not found. Takes the loader's lock; loads nothing; may allocate.
void* resolve(const char* name, Layer layer);

/// For names that other libraries may define too: searches only the libraries of `layer`.
void* resolve_in(const char* name, Layer layer);

/// Searches RTLD_DEFAULT first: after a COPY relocation, the variable in the library is an unused duplicate.
void* resolve_data(const char* name, Layer layer);

/// False for libraries of Fortran bindings.
bool is_mpi_library(const char* path);

}  // namespace profshim::inject
