#include "trace_files.h"

#include <algorithm>
#include <filesystem>

namespace profshim::cli {
namespace {

constexpr std::string_view kEnding = ".pt.trace.json";

std::string_view without_gz(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

}  // namespace

bool is_trace_name(std::string_view name) { return !name.starts_with('.') && without_gz(name).ends_with(kEnding); }

std::vector<std::string> traces_below(const std::string& folder, std::vector<std::string>& unread) {
  namespace fs = std::filesystem;
  std::vector<std::string> result, to_do = {folder};
  while (!to_do.empty()) {
    const std::string current = std::move(to_do.back());
    to_do.pop_back();
    std::error_code error, none;
    fs::directory_iterator it(current, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      const bool is_link = it->is_symlink(none);
      if (!is_link && it->is_directory(none)) {
        to_do.push_back(it->path().string());
      } else if (is_trace_name(it->path().filename().string()) && (is_link || it->is_regular_file(none))) {
        result.push_back(it->path().string());
      }
    }
    if (error) unread.push_back(current + ": " + error.message());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::string window_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  std::string_view name = without_gz(std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1));
  if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
  const std::string_view number = name.substr(name.find_last_not_of("0123456789") + 1);
  const bool numbered = number.size() < name.size() && name[name.size() - number.size() - 1] == '.';
  return folder + (numbered ? "/" + std::string(number) : "");
}

}  // namespace profshim::cli
