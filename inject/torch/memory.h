// c10::memoryProfilingEnabled() stays false: otherwise the CPU's allocator would warn on stderr about each unknown
// block.
#pragma once

namespace profshim::torch {

/// Call during the import of PyTorch: later, the hooks run under an allocator's lock.
void find_memory_functions();

void start_memory();

}  // namespace profshim::torch
