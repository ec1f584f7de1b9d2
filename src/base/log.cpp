#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "profshim/base.h"
#include "profshim/signal_guard.h"

namespace profshim::log {
namespace {

struct Place {
  dev_t device = 0;
  ino_t inode = 0;
  bool known = false;
};
constinit Place stderr_at_start;
constinit std::atomic<LogLevel> current_level{LogLevel::kWarn};
constinit std::atomic<int> current_rank{-1};
char file_path[4096];  // written before the first line of a session

// Descriptor 2 may have been closed and given to a data file since: a log line must never land there.
bool stderr_is_still_stderr() {
  if (!stderr_at_start.known) return true;
  struct stat s;
  return fstat(STDERR_FILENO, &s) == 0 && s.st_dev == stderr_at_start.device && s.st_ino == stderr_at_start.inode;
}

}  // namespace

void note_stderr() {
  struct stat s;
  if (fstat(STDERR_FILENO, &s) == 0) {
    stderr_at_start = {s.st_dev, s.st_ino, true};
  } else {
    stderr_at_start = {0, 0, true};  // closed: matches nothing
  }
}

void set_level(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }
LogLevel level() { return current_level.load(std::memory_order_relaxed); }

void set_file(std::string path) {
  if (path.size() >= sizeof file_path) path.clear();
  std::memcpy(file_path, path.c_str(), path.size() + 1);
}

void set_rank(int rank) { current_rank.store(rank, std::memory_order_relaxed); }

void line(LogLevel wanted, const char* format, ...) {
  if (wanted > level() || wanted == LogLevel::kQuiet) return;
  char text[2048];
  const int rank = current_rank.load(std::memory_order_relaxed);
  int n = rank >= 0 ? std::snprintf(text, sizeof text, "profshim: rank %d: ", rank)
                    : std::snprintf(text, sizeof text, "profshim: ");
  va_list arguments;
  va_start(arguments, format);
  const int written = std::vsnprintf(text + n, sizeof text - n - 1, format, arguments);
  va_end(arguments);
  n = std::min<int>(n + std::max(written, 0), sizeof text - 2);
  std::replace(text, text + n, '\n', ' ');  // one cause, one line
  text[n++] = '\n';
  const int saved_errno = errno;
  const SignalGuard guard;
  int fd = STDERR_FILENO;
  if (file_path[0] != 0) {
    fd = open_high(file_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  } else if (!stderr_is_still_stderr()) {
    fd = -1;
  }
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t ignored = write(fd, text, n);
    if (fd != STDERR_FILENO) close(fd);
  }
  errno = saved_errno;
}

}  // namespace profshim::log
