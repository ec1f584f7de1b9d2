#include <algorithm>

#include "profshim/elf.h"

namespace profshim::elf {

std::vector<std::string> functions_at(const std::string& path, const std::vector<std::uint64_t>& offsets) {
  std::vector<std::string> names(offsets.size());
  File file;
  std::string error;
  if (!file.map(path, error)) return names;
  file.for_each_function([&](const Symbol& symbol) {
    const auto first = std::lower_bound(offsets.begin(), offsets.end(), symbol.file_offset);
    for (auto at = first; at != offsets.end() && *at - symbol.file_offset < symbol.size; ++at) {
      std::string& name = names[static_cast<std::size_t>(at - offsets.begin())];
      if (name.empty()) name = symbol.name;
    }
  });
  return names;
}

}  // namespace profshim::elf
