#include "profshim/base/safe_files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "profshim/base/clock.h"
#include "profshim/base/files.h"

namespace profshim {
namespace {

constexpr std::size_t kMostTarget = 4096;

bool is_ours(uid_t owner) { return owner == geteuid() || owner == 0; }

/// Follows a link of ours, of root or, with `followed_by_owner`, of the target's owner. Opens the link before the
/// checks, so that nobody can replace the link in between.
Descriptor open_target(int folder_fd, const std::string& name, bool followed_by_owner) {
  Descriptor link(openat_high(folder_fd, name.c_str(), O_PATH | O_NOFOLLOW));
  struct stat found {};
  char target[kMostTarget];
  if (!link || fstat(link.get(), &found) != 0) return Descriptor();
  if (S_ISDIR(found.st_mode)) return link;
  const ssize_t length = S_ISLNK(found.st_mode) ? readlinkat(link.get(), "", target, sizeof target - 1) : -1;
  if (length <= 0) {
    errno = ENOTDIR;
    return Descriptor();
  }
  target[length] = 0;
  if (!is_ours(found.st_uid) && !followed_by_owner) {
    errno = ELOOP;
    return Descriptor();
  }
  Descriptor opened(openat_high(folder_fd, target, O_PATH | O_DIRECTORY));
  struct stat leads_to {};
  if (opened && !is_ours(found.st_uid) && (fstat(opened.get(), &leads_to) != 0 || leads_to.st_uid != found.st_uid)) {
    errno = ELOOP;
    return Descriptor();
  }
  return opened;
}

Descriptor open_one(int folder_fd, const std::string& name) {
  Descriptor opened(openat_high(folder_fd, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
  if (opened || (errno != ELOOP && errno != ENOTDIR)) return opened;
  return open_target(folder_fd, name, false);
}

}  // namespace

std::string random_text() {
  static std::atomic<std::uint64_t> counter{0};
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    // Without random numbers (old kernel, no entropy), the text is unique but can be guessed. Callers use O_EXCL.
    bits = static_cast<std::uint64_t>(monotonic_ns()) ^ static_cast<std::uint64_t>(getpid()) << 40;
    bits = (bits ^ counter.fetch_add(1) << 32) * 0x9e3779b97f4a7c15ull;
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < 16; ++i, bits >>= 4) text += kDigits[bits & 15];
  return text;
}

int openat_high(int folder_fd, const char* path, int flags, unsigned mode) {
  const int fd = openat(folder_fd, path, flags | O_CLOEXEC, mode);
  return fd < 0 ? fd : moved_high(fd);
}

Descriptor::~Descriptor() {
  if (fd_ < 0) return;
  const int saved_errno = errno;
  close(fd_);
  errno = saved_errno;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor open_regular(const std::string& path, struct stat& found, int folder_fd) {
  Descriptor fd(openat_high(folder_fd, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) return fd;
  if (fstat(fd.get(), &found) == 0 && S_ISREG(found.st_mode)) return fd;
  fd = Descriptor();
  errno = EINVAL;
  return fd;
}

bool read_small_file(const std::string& path, std::uint64_t most_bytes, std::string& text, int& error,
                     struct stat* found, int folder_fd) {
  struct stat file {};
  const Descriptor fd = open_regular(path, file, folder_fd);
  text.clear();
  error = 0;
  if (!fd) error = errno;
  // The loop checks again: the file may grow.
  if (fd && static_cast<std::uint64_t>(file.st_size) > most_bytes) error = EFBIG;
  char block[16384];
  while (error == 0) {
    const ssize_t n = read(fd.get(), block, sizeof block);
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error = errno;
    } else if (text.size() + static_cast<std::size_t>(n) > most_bytes) {
      error = EFBIG;
    } else {
      text.append(block, static_cast<std::size_t>(n));
    }
  }
  if (found != nullptr) *found = file;
  if (error != 0) text.clear();
  return error == 0;
}

Descriptor open_folder(const std::string& path) {
  std::string folder = path;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const std::size_t slash = folder.rfind('/');
  if (slash == std::string::npos || folder == "/") return Descriptor(open_high(folder.c_str(), O_PATH | O_DIRECTORY));
  const Descriptor above(open_high(folder.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY));
  if (!above) return Descriptor();
  const std::string name = folder.substr(slash + 1);
  if (name == "." || name == "..") return Descriptor(openat_high(above.get(), name.c_str(), O_PATH | O_DIRECTORY));
  return open_target(above.get(), name, true);
}

Descriptor open_folder_below(int folder_fd, const std::string& below) {
  Descriptor here(openat_high(folder_fd, ".", O_PATH | O_DIRECTORY));
  for (std::size_t from = 0; here && from < below.size();) {
    const std::size_t slash = std::min(below.find('/', from), below.size());
    const std::string part = below.substr(from, slash - from);
    from = slash + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      errno = EINVAL;
      return Descriptor();
    }
    if (mkdirat(here.get(), part.c_str(), 0777) != 0 && errno != EEXIST) {
      const int error = errno;
      Descriptor there = open_one(here.get(), part);  // the folder may exist on a read-only file system
      if (!there) errno = error;
      here = std::move(there);
      continue;
    }
    here = open_one(here.get(), part);
  }
  return here;
}

bool remove_if_same(int folder_fd, const std::string& name, const struct stat& expected) {
  struct stat there {};
  if (fstatat(folder_fd, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (there.st_dev != expected.st_dev || there.st_ino != expected.st_ino) return false;
  return unlinkat(folder_fd, name.c_str(), 0) == 0;
}

}  // namespace profshim
