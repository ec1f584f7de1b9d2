// Finds exported functions in loaded files without the loader: dlsym() itself cannot be looked up by dlsym(). No lock,
// no allocation; callable before any constructor has run, and, with loaded_files_before_relocation(), before this
// library is relocated. So the code uses no table of pointers and no function of another library.
#pragma once

#include <link.h>

#include <cstdint>

namespace profshim::inject {

/// The first loaded file; the others follow. Only the namespace of the program.
const link_map* loaded_files();
/// As loaded_files(), before the loader has relocated this library: resolvers of IFUNCs in the program's libraries run
/// before. Reads /proc/self/auxv. Null if that fails.
const link_map* loaded_files_before_relocation();
/// False until the loader has relocated this library: until then, no function of another library can be called.
bool is_relocated();

/// Returns the file whose DT_SONAME is `soname`, or null.
const link_map* file_named(const char* soname, const link_map* files);

/// Returns the address of the default version of a function that the file defines. Null if it defines none, or has no
/// DT_GNU_HASH. `dynamic`: the file's dynamic section.
void* function_in(const ElfW(Dyn) * dynamic, ElfW(Addr) bias, const char* name);

/// Returns the address of our own export. Null if there is none.
void* own_export(const char* name);

/// How often the loader has added and removed files. Takes the loader's lock; allocates nothing.
struct LoadCounters {
  std::uint64_t loads = 0, unloads = 0;
  bool operator==(const LoadCounters&) const = default;
};
LoadCounters load_counters();

}  // namespace profshim::inject
