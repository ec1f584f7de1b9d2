#include "proc_text.h"

#include <cstddef>

#include "profshim/base/files.h"

namespace profshim {

std::vector<std::string> read_proc_texts(const std::string& path) {
  std::string text;
  int error = 0;
  std::vector<std::string> found;
  if (!read_file(path, text, error)) return found;
  for (std::size_t at = 0; at < text.size(); at += found.back().size() + 1) found.emplace_back(text.c_str() + at);
  return found;
}

}  // namespace profshim
