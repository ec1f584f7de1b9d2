#include "trace_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

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

bool collect_traces(const std::vector<std::string>& paths, std::vector<std::string>& files) {
  namespace fs = std::filesystem;
  bool all = true;
  std::set<fs::path> seen;
  const auto add = [&](const std::string& file) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    if (error || seen.insert(real).second) files.push_back(file);
  };
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      std::vector<std::string> unread;
      const std::vector<std::string> below = traces_below(path, unread);
      for (const std::string& line : unread) std::fprintf(stderr, "profshim: %s\n", line.c_str());
      if (below.empty() && unread.empty()) {
        std::fprintf(stderr, "profshim: %s: no *.pt.trace.json or *.pt.trace.json.gz in it\n", path.c_str());
      }
      all = all && !below.empty() && unread.empty();
      for (const std::string& file : below) add(file);
    } else if (fs::exists(path, error)) {
      add(path);
    } else {
      std::fprintf(stderr, "profshim: %s: no such file or folder\n", path.c_str());
      all = false;
    }
  }
  return all;
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
