// The mappings of this process: /proc/self/maps, see proc(5).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace profshim {

struct MemoryMapping {
  std::uint64_t begin = 0, end = 0, offset = 0;  // offset: of `begin` in the file
  bool is_readable = false, is_writable = false, is_executable = false;
  std::string path;  // "" = no file; also "[heap]", "[stack]", ...
};
bool parse_mapping(std::string_view line, MemoryMapping& mapping);
/// Visits by ascending address. Returns false if /proc is not readable. Thread-safe.
bool each_mapping(const std::function<void(const MemoryMapping&)>& visit);

}  // namespace profshim
