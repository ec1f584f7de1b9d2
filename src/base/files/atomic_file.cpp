#include "profshim/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "profshim/base/files.h"

namespace profshim {
namespace {

constexpr int kTries = 8;

}  // namespace

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    close(fd_);
    unlinkat(folder_fd_, temporary_.c_str(), 0);
  }
  if (folder_fd_ >= 0) close(folder_fd_);
}

bool AtomicFile::open(const std::string& final_path) {
  const std::size_t slash = final_path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : final_path.substr(0, slash + 1);
  folder_fd_ = open_high(folder.c_str(), O_PATH | O_DIRECTORY);
  if (folder_fd_ < 0) {
    error_ = errno;
    return false;
  }
  return create(slash == std::string::npos ? final_path : final_path.substr(slash + 1));
}

bool AtomicFile::open(const std::string& folder, const std::string& name, int folder_fd) {
  const Descriptor opened(folder_fd >= 0 ? -1 : open_folder(folder).release());
  const int top = folder_fd >= 0 ? folder_fd : opened.get();
  const std::size_t slash = name.rfind('/');
  const std::string below = slash == std::string::npos ? "" : name.substr(0, slash);
  error_ = errno;
  // Another rank may remove the folder while it is empty (output.num_traces_to_keep).
  for (int tries = 0; top >= 0 && tries < kTries; ++tries) {
    if (folder_fd_ >= 0) close(folder_fd_);
    folder_fd_ = open_folder_below(top, below).release();
    error_ = folder_fd_ < 0 ? errno : 0;
    if (folder_fd_ >= 0 && create(slash == std::string::npos ? name : name.substr(slash + 1))) return true;
    if (error_ != ENOENT) return false;
  }
  return false;
}

namespace {

std::string start_of_temporary(const std::string& name, int pid) {
  constexpr std::size_t kLongest = 200;  // the temporary name may have 255 bytes
  return "." + name.substr(0, kLongest) + "." + std::to_string(pid) + "-";
}

}  // namespace

bool AtomicFile::create(const std::string& name) {
  name_ = name;
  for (int tries = 0; fd_ < 0 && tries < kTries; ++tries) {
    temporary_ = start_of_temporary(name, getpid()) + random_text() + ".tmp";
    fd_ = openat_high(folder_fd_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) error_ = errno;
  return fd_ >= 0;
}

void AtomicFile::remove_unpublished(int folder_fd, const std::string& name, int pid) {
  const std::size_t slash = name.rfind('/');
  const Descriptor folder = open_folder_below(folder_fd, slash == std::string::npos ? "" : name.substr(0, slash));
  const std::string start = start_of_temporary(name.substr(slash == std::string::npos ? 0 : slash + 1), pid);
  for (const std::string& entry : names_in(folder.get())) {
    if (entry.starts_with(start) && entry.ends_with(".tmp")) unlinkat(folder.get(), entry.c_str(), 0);
  }
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

std::int64_t AtomicFile::written_at_ns() const {
  struct stat s {};
  if (fd_ < 0 || fstat(fd_, &s) != 0) return 0;
  return std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
}

std::uint64_t AtomicFile::inode() const {
  struct stat s {};
  return fd_ >= 0 && fstat(fd_, &s) == 0 ? s.st_ino : 0;
}

bool AtomicFile::publish(Existing existing) {
  if (error_ != 0 || fd_ < 0) return false;
  const auto remove = [this] { unlinkat(folder_fd_, temporary_.c_str(), 0); };
  // Other errors mean that fsync is not available (file system, seccomp).
  if (fsync(fd_) != 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT)) error_ = errno;
  if (close(fd_) != 0 && error_ == 0) error_ = errno;
  fd_ = -1;
  if (error_ == 0 && existing == Existing::kKeepExisting) {
    if (linkat(folder_fd_, temporary_.c_str(), folder_fd_, name_.c_str(), 0) == 0) {
      remove();
      return true;
    }
    // Without hard links, check, then rename: this is not atomic.
    struct stat there {};
    if (errno == EEXIST || fstatat(folder_fd_, name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0) error_ = EEXIST;
  }
  if (error_ == 0 && renameat(folder_fd_, temporary_.c_str(), folder_fd_, name_.c_str()) != 0) error_ = errno;
  if (error_ != 0) remove();
  return error_ == 0;
}

}  // namespace profshim
