#include "proc_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "profshim/base/files.h"

namespace profshim::session {

bool ProcFile::is_ours() const {
  struct stat now {};
  return fd_ >= 0 && fstat(fd_, &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
}

bool ProcFile::open() {
  if (is_ours()) return true;
  fd_ = open_high(path_.c_str(), O_RDONLY);
  struct stat opened {};
  if (fd_ < 0 || fstat(fd_, &opened) != 0) {
    error_ = errno;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    return false;
  }
  device_ = opened.st_dev;
  inode_ = opened.st_ino;
  return true;
}

std::optional<std::string_view> ProcFile::read(std::span<char> into) {
  if (!open()) return std::nullopt;
  std::size_t size = 0;
  while (size < into.size()) {
    const ssize_t n = pread(fd_, into.data() + size, into.size() - size, static_cast<off_t>(size));
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error_ = errno;
      return std::nullopt;
    }
    size += static_cast<std::size_t>(n);
  }
  return std::string_view(into.data(), size);
}

void ProcFile::set_path(std::string path) {
  close();
  path_ = std::move(path);
}

void ProcFile::close() {
  if (is_ours()) ::close(fd_);
  fd_ = -1;
}

}  // namespace profshim::session
