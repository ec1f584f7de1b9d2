#include "profshim/base/memory_map.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace profshim {

bool parse_mapping(const char* line, MemoryMapping& mapping) {
  char permissions[5] = {};
  int path_at = 0;
  if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.begin, &mapping.end, permissions,
                  &mapping.offset, &path_at) < 4) {
    return false;
  }
  mapping.is_readable = permissions[0] == 'r';
  mapping.is_writable = permissions[1] == 'w';
  mapping.is_executable = permissions[2] == 'x';
  mapping.path = path_at > 0 ? line + path_at : "";
  if (!mapping.path.empty() && mapping.path.back() == '\n') mapping.path.pop_back();
  return true;
}

bool each_mapping(const std::function<void(const MemoryMapping&)>& visit) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  char* line = nullptr;
  std::size_t room = 0;
  MemoryMapping mapping;
  while (getline(&line, &room, maps) > 0) {
    if (parse_mapping(line, mapping)) visit(mapping);
  }
  std::free(line);
  std::fclose(maps);
  return true;
}

}  // namespace profshim
