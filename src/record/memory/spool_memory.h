// The spool's memory: a file that outlives the process, or anonymous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::spool_memory {

/// `path` "": anonymous. If address space is scarce, maps `first` bytes: see reach(). On failure leaves nothing behind.
bool map(const std::string& path, std::uint64_t bytes, std::uint64_t first, std::string& why_not);
/// Also removes the file.
void unmap();

char* data();
/// Bytes behind mapped() have no address space yet.
std::size_t size();
std::size_t mapped();
/// "" = anonymous memory.
const std::string& path();

/// Maps up to `end`, at the same address. One thread.
bool reach(std::uint64_t end);
/// Gives a range pages. Otherwise touching a hole of the file raises SIGBUS in the job if the file system is full.
/// False without memory. Any thread.
bool populate(void* at, std::size_t bytes);
/// Whole pages. False if the system refuses.
bool give_back(char* begin, char* end);

}  // namespace profshim::recorder::spool_memory
