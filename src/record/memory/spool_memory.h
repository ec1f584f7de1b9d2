// The memory of the spool: a file that outlives the process, or anonymous memory. One per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::spool_memory {

/// Maps a new file of `bytes`, or anonymous memory if `path` is empty. If address space is scarce, maps only the first
/// `first` bytes: see reach(). Returns false and a reason on failure and leaves nothing behind.
bool map(const std::string& path, std::uint64_t bytes, std::uint64_t first, std::string& why_not);
/// Unmaps the memory and removes the file.
void unmap();

char* data();
/// Returns the size of the whole spool; bytes behind mapped() have no address space yet.
std::size_t size();
std::size_t mapped();
/// Returns the path of the file; "" = anonymous memory.
const std::string& path();

/// Maps at least the first `end` bytes, at the same address. Returns false if there is no address space. One thread.
bool reach(std::uint64_t end);
/// Gives a mapped range pages; returns false if there is no memory. Without this, touching a hole of the file would
/// raise SIGBUS in the job if the file system is full. Any thread.
bool populate(void* at, std::size_t bytes);
/// Returns the whole pages between `begin` and `end` to the system. False if the system refuses.
bool give_back(char* begin, char* end);

}  // namespace profshim::recorder::spool_memory
