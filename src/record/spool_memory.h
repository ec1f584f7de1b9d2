#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace profshim::recorder::spool_memory {

/// Maps anonymous memory if `path` is "". Maps only `first` bytes, if the mapping can grow there: see reach().
bool map(const std::string& path, std::uint64_t bytes, std::uint64_t first, std::string& why_not);
/// Also removes the file.
void unmap();
/// Keeps mapping and file, which are the parent's.
void forget();

char* data();
/// In bytes. Only the first mapped() bytes have address space.
std::size_t size();
std::size_t mapped();
const std::string& path();

/// Extends mapped() to `end`. Not thread-safe.
bool reach(std::uint64_t end);
/// mlockall() gives no memory to this range of whole pages; populate() does. Call once, before populate().
void keep_sparse(char* begin, std::size_t bytes);
/// Gives pages to a range, since a store without a page may raise SIGBUS. Returns false without memory. Thread-safe.
bool populate(void* at, std::size_t bytes);
/// Gives whole pages back to the system. Returns false on failure.
bool give_back(char* begin, char* end);

}  // namespace profshim::recorder::spool_memory
