// Records blocks of PyTorch's allocators by hooks of their reports to a profiler. c10::memoryProfilingEnabled() keeps
// its result: if it became true, the CPU's allocator would warn on stderr of each block unknown to it.
#pragma once

namespace profshim::torch {

/// Call during the import of PyTorch: later, hooks hold an allocator's lock.
void find_memory_functions();

void start_memory();

}  // namespace profshim::torch
