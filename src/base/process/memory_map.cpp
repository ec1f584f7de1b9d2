#include "profshim/base/process/memory_map.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "profshim/base/files.h"
#include "profshim/base/text/number_text.h"

namespace profshim {
namespace {

/// Takes the characters up to the next blank, and the blanks behind them.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

}  // namespace

// "BEGIN-END PERMISSIONS OFFSET DEVICE INODE   PATH"
bool parse_mapping(std::string_view line, MemoryMapping& mapping) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (!take_number(line, mapping.begin, 16) || !take_character(line, '-')) return false;
  if (!take_number(line, mapping.end, 16) || !take_character(line, ' ')) return false;
  const std::string_view permissions = take_word(line);
  if (permissions.size() < 3 || !parse_number(take_word(line), mapping.offset, 16)) return false;
  mapping.is_readable = permissions[0] == 'r';
  mapping.is_writable = permissions[1] == 'w';
  mapping.is_executable = permissions[2] == 'x';
  take_word(line);
  take_word(line);
  mapping.path = line;
  return true;
}

bool each_mapping(const std::function<void(const MemoryMapping&)>& visit) {
  const int fd = open_high("/proc/self/maps", O_RDONLY);
  std::FILE* const maps = fd < 0 ? nullptr : fdopen(fd, "r");
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
