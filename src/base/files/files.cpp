#include "profshim/base/files.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profshim/base/safe_files.h"

namespace profshim {

int open_high(const char* path, int flags, unsigned mode) { return openat_high(AT_FDCWD, path, flags, mode); }

// A job may rely on getting low numbers from its own open(), or close all low descriptors.
int moved_high(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
  if (high < 0) return fd;
  close(fd);
  return high;
}

bool read_file(const std::string& path, std::string& text, int& error) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    error = errno;
    return false;
  }
  text.clear();
  char block[65536];
  for (;;) {
    const ssize_t n = read(fd, block, sizeof block);
    if (n == 0) break;
    if (n < 0) {
      if (errno == EINTR) continue;
      error = errno;
      close(fd);
      return false;
    }
    text.append(block, static_cast<std::size_t>(n));
  }
  close(fd);
  return true;
}

std::vector<std::string> files_newest_first(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::sort(paths.begin(), paths.end(),
            [](const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) > 0; });
  return paths;
}

int make_folders(const std::string& path) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    if (mkdir(path.substr(0, at).c_str(), 0777) == 0) continue;
    const int error = errno;
    struct stat s;
    if (stat(path.substr(0, at).c_str(), &s) == 0) {
      if (S_ISDIR(s.st_mode)) continue;
      return ENOTDIR;
    }
    return error;
  }
  return 0;
}

std::string absolute_path(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char here[4096];
  if (getcwd(here, sizeof here) == nullptr) return path;
  std::string rest = path;
  while (rest.starts_with("./")) rest.erase(0, 2);
  return std::string(here) + (here[1] == 0 ? "" : "/") + rest;
}

}  // namespace profshim
