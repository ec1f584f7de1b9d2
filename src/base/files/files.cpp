#include "profshim/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "profshim/base/clock.h"
#include "profshim/base/threads/signal_guard.h"

namespace profshim {

int open_high(const char* path, int flags, unsigned mode) { return openat_high(AT_FDCWD, path, flags, mode); }

namespace {

constinit std::atomic<bool> is_hole_usual{false};

bool has_hole() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0) return true;
  }
  return false;
}

/// A job may replace a standard descriptor by close() and open(), which takes the lowest free number: a thread of ours
/// that opens a file between these calls would take that number. So it waits until the job has made its call. A job may
/// also leave a descriptor closed: then it waits once.
void let_job_fill_hole() {
  if (!is_own_thread()) return;
  constexpr int kMostWaits = 100;
  constexpr timespec kPause{0, 100'000};
  for (int waits = 0; has_hole(); ++waits) {
    if (is_hole_usual.load(std::memory_order_relaxed)) return;
    if (waits == kMostWaits) return is_hole_usual.store(true, std::memory_order_relaxed);
    nanosleep(&kPause, nullptr);
  }
  is_hole_usual.store(false, std::memory_order_relaxed);
}

}  // namespace

// A job may rely on getting low numbers from its own open(), or close all low descriptors.
int moved_high(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
  if (high < 0) return fd;
  close(fd);
  return high;
}

bool read_file(const std::string& path, std::string& text, int& error) {
  const int fd = open_high(path.c_str(), O_RDONLY);
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

namespace {

constexpr std::size_t kMostTarget = 4096;
constexpr int kMostLinks = 40;  // as the kernel

bool is_ours(uid_t owner) { return owner == geteuid() || owner == 0; }

/// Opens a folder through a descriptor of each level above it, so that nobody can replace a level between check and
/// use.
class Walk {
 public:
  enum class Links : std::uint8_t { kOursOrRoots, kOrOfTheirTargetsOwner };
  Walk(Links links, bool creates, std::string* foreign_link)
      : links_(links), creates_(creates), foreign_link_(foreign_link) {}

  /// A relative path starts at `folder_fd`. `shown` is the path of that folder.
  Descriptor down(int folder_fd, const std::string& path, std::string shown) {
    const bool is_absolute = path.starts_with('/');
    Descriptor here(openat_high(is_absolute ? AT_FDCWD : folder_fd, is_absolute ? "/" : ".", O_PATH | O_DIRECTORY));
    if (is_absolute) shown = "";
    for (std::size_t from = 0; here && from < path.size();) {
      const std::size_t slash = std::min(path.find('/', from), path.size());
      const std::string part = path.substr(from, slash - from);
      from = slash + 1;
      if (part.empty() || part == ".") continue;
      here = open_level(here.get(), part, shown);
      shown += shown.empty() && !is_absolute ? part : "/" + part;
    }
    return here;
  }

 private:
  Descriptor open_level(int folder_fd, const std::string& name, const std::string& above) {
    // O_DIRECTORY makes autofs mount the folder.
    constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW;
    Descriptor opened(openat_high(folder_fd, name.c_str(), kFlags));
    if (!opened && errno == ENOENT && creates_) {
      if (mkdirat(folder_fd, name.c_str(), 0777) != 0 && errno != EEXIST) return opened;
      opened = Descriptor(openat_high(folder_fd, name.c_str(), kFlags));
    }
    if (opened || (errno != ELOOP && errno != ENOTDIR)) return opened;
    return follow(folder_fd, name, above);
  }

  /// Opens the link before the checks, so that nobody can replace it in between.
  Descriptor follow(int folder_fd, const std::string& name, const std::string& above) {
    Descriptor link(openat_high(folder_fd, name.c_str(), O_PATH | O_NOFOLLOW));
    struct stat found {};
    char target[kMostTarget];
    if (!link || fstat(link.get(), &found) != 0) return Descriptor();
    if (S_ISDIR(found.st_mode)) return link;
    const ssize_t length = S_ISLNK(found.st_mode) ? readlinkat(link.get(), "", target, sizeof target - 1) : -1;
    if (length <= 0 || ++followed_ > kMostLinks) {
      errno = length <= 0 ? ENOTDIR : ELOOP;
      return Descriptor();
    }
    target[length] = 0;
    if (!is_ours(found.st_uid) && links_ == Links::kOursOrRoots) return refuse(above, name);
    const bool creates = std::exchange(creates_, false);
    Descriptor opened = down(folder_fd, target, above);
    creates_ = creates;
    struct stat leads_to {};
    if (!opened || is_ours(found.st_uid)) return opened;
    const bool is_of_owner = fstat(opened.get(), &leads_to) == 0 && leads_to.st_uid == found.st_uid;
    return is_of_owner ? std::move(opened) : refuse(above, name);
  }

  Descriptor refuse(const std::string& above, const std::string& name) const {
    if (foreign_link_ != nullptr) *foreign_link_ = above.empty() ? "/" + name : above + "/" + name;
    errno = ELOOP;
    return Descriptor();
  }

  const Links links_;
  bool creates_;
  std::string* const foreign_link_;
  int followed_ = 0;
};

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
  let_job_fill_hole();
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

Descriptor open_folder(const std::string& path, std::string* foreign_link) {
  return Walk(Walk::Links::kOrOfTheirTargetsOwner, false, foreign_link).down(AT_FDCWD, path, "");
}

Descriptor make_folder(const std::string& path, std::string* foreign_link) {
  return Walk(Walk::Links::kOrOfTheirTargetsOwner, true, foreign_link).down(AT_FDCWD, path, "");
}

Descriptor open_folder_below(int folder_fd, const std::string& below) {
  if (below.starts_with('/') || ("/" + below + "/").find("/../") != std::string::npos) {
    errno = EINVAL;
    return Descriptor();
  }
  return Walk(Walk::Links::kOursOrRoots, true, nullptr).down(folder_fd, below, "");
}

std::vector<std::string> names_in(int folder_fd) {
  std::vector<std::string> names;
  const int fd = openat_high(folder_fd, ".", O_RDONLY | O_DIRECTORY);
  DIR* const directory = fd < 0 ? nullptr : fdopendir(fd);
  if (directory == nullptr) {
    if (fd >= 0) close(fd);
    return names;
  }
  while (const dirent* const entry = readdir(directory)) names.emplace_back(entry->d_name);
  closedir(directory);
  return names;
}

bool remove_if_same(int folder_fd, const std::string& name, const struct stat& expected) {
  struct stat there {};
  if (fstatat(folder_fd, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (there.st_dev != expected.st_dev || there.st_ino != expected.st_ino) return false;
  return unlinkat(folder_fd, name.c_str(), 0) == 0;
}

}  // namespace profshim
