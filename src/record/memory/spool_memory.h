// The spool's memory: a file that outlives the process, or anonymous memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::spool_memory {

/// Maps a new file; anonymous memory if `path` is "". If address space is scarce, maps only `first` bytes: see reach().
bool map(const std::string& path, std::uint64_t bytes, std::uint64_t first, std::string& why_not);
/// Unmaps the memory and removes the file.
void unmap();

char* data();
/// Bytes; the first mapped() of them have address space.
std::size_t size();
std::size_t mapped();
/// "" = anonymous memory.
const std::string& path();

/// Extends the mapping up to `end` without moving it. Called by one thread.
bool reach(std::uint64_t end);
/// Gives a range pages; false without memory. Without pages, a store would raise SIGBUS if the file system is full. Any
/// thread may call it.
bool populate(void* at, std::size_t bytes);
/// Returns whole pages to the system; false if none, or it refuses.
bool give_back(char* begin, char* end);

}  // namespace profshim::recorder::spool_memory
