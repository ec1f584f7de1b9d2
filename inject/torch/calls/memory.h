// Records the allocations and releases of PyTorch's allocators. The allocators report each block to a profiler of the
// job by functions of libc10, which they call by symbol. Our hooks have these symbols and always call the real
// functions. c10::memoryProfilingEnabled() keeps its result: if it became true, the CPU's allocator would keep a table
// of its own, and warn on stderr of each block that is not in it.
#pragma once

namespace profshim::torch {

/// Finds the real functions. Call it while PyTorch is being imported: later, they are called with the lock of an
/// allocator held.
void find_memory_functions();

/// The session is active. From now on, remembers blocks if the spec wants memory events.
void start_memory();

}  // namespace profshim::torch
