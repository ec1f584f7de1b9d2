#pragma once

#include <cstdint>

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

/// True for the file name of a library that defines functions of the layer.
bool belongs(const char* path, Layer layer);

/// The mapped file that holds an address; the same `headers` mean the same file. null = no file in the namespace of the
/// program; name "" = the program. The name is valid until the file is closed.
struct Object {
  const void* headers = nullptr;
  const char* name = "";
};
/// Takes the loader's lock; allocates nothing.
Object object_at(const void* address);

}  // namespace profshim::inject
