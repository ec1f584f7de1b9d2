// Finds exported functions in loaded files without the loader: dlsym() itself cannot be looked up by dlsym(). No lock, no
// allocation; callable before any constructor has run.
#pragma once

#include <link.h>

namespace profshim::inject {

/// Returns the file whose DT_SONAME is `soname`, or null. Searches only the namespace of the program.
const link_map* loaded_file(const char* soname);

/// Returns the address of the default version of a function that the file defines. Null if it defines none, or has no
/// DT_GNU_HASH. `dynamic`: the file's dynamic section.
void* function_in(const ElfW(Dyn) * dynamic, ElfW(Addr) bias, const char* name);

/// Returns the address of our own export. Null if there is none.
void* own_export(const char* name);

}  // namespace profshim::inject
