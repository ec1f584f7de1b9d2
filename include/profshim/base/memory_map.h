// The memory map of this process: /proc/self/maps, whose format is that of proc(5).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace profshim {

/// A line of it.
struct MemoryMapping {
  std::uint64_t begin = 0, end = 0, offset = 0;  // offset: in the file
  bool is_readable = false, is_writable = false, is_executable = false;
  std::string path;  // "" = of no file; "[heap]" and "[stack]" are names of the kernel's
};
/// One line, with or without its newline; false: it is none.
bool parse_mapping(const char* line, MemoryMapping& mapping);
/// Calls `visit` for each mapping, by ascending address. Opens a file; false: it cannot be read. Any thread.
bool each_mapping(const std::function<void(const MemoryMapping&)>& visit);

}  // namespace profshim
