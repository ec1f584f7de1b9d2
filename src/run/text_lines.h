#pragma once

#include <cstring>
#include <string>

namespace profshim::run {

/// Returns the rest of the line that begins with `word`, whose first character is '\n'; "" if there is none.
inline std::string line_after(const std::string& text, const char* word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  const std::size_t from = at + std::strlen(word);
  return text.substr(from, text.find('\n', from) - from);
}

}  // namespace profshim::run
