#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "profshim/base.h"

namespace profshim {

int open_high(const char* path, int flags, unsigned mode) {
  const int fd = open(path, flags | O_CLOEXEC, mode);
  if (fd < 0) return fd;
  // A job may count on the numbers its own open() returns, or close everything below some small number.
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

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

bool AtomicFile::open(const std::string& final_path) {
  path_ = final_path;
  const std::size_t slash = path_.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  temporary_ = path_.substr(0, name) + "." + path_.substr(name) + "." + std::to_string(getpid()) + ".tmp";
  fd_ = open_high(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd_ < 0) error_ = errno;
  return fd_ >= 0;
}

bool AtomicFile::write(const void* data, std::size_t size) {
  if (error_ != 0) return false;
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd_, at, size);
    if (n < 0) {
      if (errno == EINTR) continue;
      error_ = errno;
      return false;
    }
    at += n;
    size -= static_cast<std::size_t>(n);
    size_ += static_cast<std::uint64_t>(n);
  }
  return true;
}

bool AtomicFile::publish(Existing existing) {
  if (error_ != 0 || fd_ < 0) return false;
  if (fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) error_ = errno;
  if (close(fd_) != 0 && error_ == 0) error_ = errno;
  fd_ = -1;
  if (error_ == 0 && existing == Existing::kKeepExisting) {
    if (link(temporary_.c_str(), path_.c_str()) == 0) {
      unlink(temporary_.c_str());
      return true;
    }
    // File systems without hard links: the check and the rename are two steps there.
    if (errno == EEXIST || access(path_.c_str(), F_OK) == 0) error_ = EEXIST;
  }
  if (error_ == 0 && rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) unlink(temporary_.c_str());
  return error_ == 0;
}

}  // namespace profshim
