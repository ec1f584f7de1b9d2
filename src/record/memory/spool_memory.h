// The memory that the spool lies in: a file that outlives the process, or memory of the process alone. One per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::spool_memory {

/// Maps a new file of `bytes`, or anonymous memory where `path` is empty. Where address space is scarce only the first
/// `first` bytes are mapped: see reach(). False and a reason when that cannot be had; nothing is left behind then.
bool map(const std::string& path, std::uint64_t bytes, std::uint64_t first, std::string& why_not);
/// Forgets the mapping and removes the file.
void unmap();

char* data();
/// All of the spool; bytes behind mapped() have no address space yet.
std::size_t size();
std::size_t mapped();
/// "" = anonymous memory.
const std::string& path();

/// Maps at least the first `end` bytes, at the same address. One thread. False: there is no address space to be had.
bool reach(std::uint64_t end);
/// Gives a mapped range real pages. A hole that is touched when the file system is full raises SIGBUS in the job; this
/// asks first. False: there is no memory to be had. Any thread.
bool populate(void* at, std::size_t bytes);
/// Returns the whole pages between `begin` and `end` to the system. False when it kept them.
bool give_back(char* begin, char* end);

}  // namespace profshim::recorder::spool_memory
