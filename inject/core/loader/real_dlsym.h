// The loader's dlsym() and dlvsym(), of which this library exports its own (inject/lookup). Code of this library calls
// these, so that a lookup of a hooked function does not find the hook.
#pragma once

namespace profshim::inject {

/// The C library's: no other preloaded tool sees the call. Any thread; callable before our constructor.
void* real_dlsym(void* handle, const char* name);

/// Returns the definition of `name` behind this library in the order of the search, or null.
void* next_symbol(const char* name);

using Dlsym = void*(void*, const char*);
using Dlvsym = void*(void*, const char*, const char*);
/// The next definitions behind this library: of another preloaded tool, or the C library's. Never null: without one,
/// ends the process.
Dlsym* next_dlsym();
Dlvsym* next_dlvsym();

}  // namespace profshim::inject
