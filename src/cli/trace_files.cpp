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

std::vector<std::string> traces_below(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> result;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (is_trace_name(it->path().filename().string())) result.push_back(it->path().string());
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
