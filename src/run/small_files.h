// Small files that several processes make, replace and remove. Others see the whole text or no file.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace profshim::run {

/// Returns 0 or an errno: EEXIST if there is such a file. `now_ns`: the file system's clock, the same for all hosts.
int create_whole(int folder_fd, const std::string& name, const std::string& text, std::int64_t& now_ns);
bool replace_whole(int folder_fd, const std::string& name, const std::string& text);
/// Removes the file if it still holds `text`. Moves it aside first: another process may be replacing it.
void remove_if_unchanged(int folder_fd, const std::string& name, const std::string& text);

/// Returns the rest of the line that begins with `word`, whose first character is '\n'; "" if there is none.
inline std::string line_after(const std::string& text, const char* word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return {};
  const std::size_t from = at + std::strlen(word);
  return text.substr(from, text.find('\n', from) - from);
}

}  // namespace profshim::run
