#include <algorithm>

#include "profshim/elf.h"

namespace profshim::elf {

std::vector<std::string> functions_at(const std::string& path, const std::vector<std::uint64_t>& places) {
  std::vector<std::string> names(places.size());
  File file;
  std::string why_not;
  if (!file.map(path, why_not)) return names;
  file.for_each_function([&](const Symbol& symbol) {
    const auto first = std::lower_bound(places.begin(), places.end(), symbol.file_at);
    for (auto at = first; at != places.end() && *at - symbol.file_at < symbol.size; ++at) {
      std::string& name = names[static_cast<std::size_t>(at - places.begin())];
      if (name.empty()) name = symbol.name;
    }
  });
  return names;
}

}  // namespace profshim::elf
