// What PyTorch's allocators give and take back. c10 tells whoever profiles in the job of each block, by functions of
// libc10 that it calls by symbol: ours stand in front of them, and always call the real ones. Nothing in the job is
// told that somebody profiles (c10::memoryProfilingEnabled() answers as ever): the CPU's allocator would then keep a
// table of its own, and warn on stderr of each block that is not in it.
#pragma once

namespace profshim::torch {

/// PyTorch is being imported: finds the real functions before they are called with a lock of an allocator's held.
void find_memory_functions();

/// The session is active: remembers blocks from now on, where the spec wants it.
void start_memory();

}  // namespace profshim::torch
