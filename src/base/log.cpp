#include "profshim/base/log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include "profshim/base/files.h"
#include "profshim/base/threads/signal_guard.h"

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
char file_path[4096];

// `waiting` holds lines that stderr cannot take, until a run folder exists. Writers only try to lock: they may be
// signal handlers.
constinit std::mutex folder_mutex;
constinit std::size_t waiting_bytes = 0;
char waiting[4096];
char folder_path[4096];  // "" = no run folder yet
char folder_log[48];     // profshim-rankN.log
struct stat folder_found;

// False if the job closed descriptor 2 and reused it, perhaps for a data file.
bool stderr_is_still_stderr() {
  if (!stderr_at_start.known) return true;
  struct stat s;
  return fstat(STDERR_FILENO, &s) == 0 && s.st_dev == stderr_at_start.device && s.st_ino == stderr_at_start.inode;
}

// Refuses links, pipes and devices, which other users may have put into the folder, and another folder that they have
// put into its place.
bool append(const char* text, std::size_t size) {
  const Descriptor folder(open_high(folder_path, O_PATH | O_DIRECTORY));
  struct stat now {};
  if (!folder || fstat(folder.get(), &now) != 0) return false;
  if (now.st_dev != folder_found.st_dev || now.st_ino != folder_found.st_ino) return false;
  const int fd = openat_high(folder.get(), folder_log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (fd < 0) return false;
  struct stat s;
  const bool written = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && write(fd, text, size) == static_cast<ssize_t>(size);
  close(fd);
  return written;
}

void write_into_folder(const char* text, std::size_t size) {
  const std::unique_lock lock(folder_mutex, std::try_to_lock);
  if (!lock) return;
  if (folder_path[0] != 0) {
    append(text, size);
  } else if (size <= sizeof waiting - waiting_bytes) {
    std::memcpy(waiting + waiting_bytes, text, size);
    waiting_bytes += size;
  }
}

// Returns -1 if stderr must be used. O_NONBLOCK: another user may have put a pipe at this path. Follows only links of
// us or root.
int open_log() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY;
  int fd = open_high(file_path, kFlags | O_NOFOLLOW);
  struct stat s {};
  if (fd < 0 && errno == ELOOP && lstat(file_path, &s) == 0 && (s.st_uid == geteuid() || s.st_uid == 0)) {
    fd = open_high(file_path, kFlags);
  }
  if (fd < 0) return fd;
  const bool is_log = fstat(fd, &s) == 0 && (S_ISREG(s.st_mode) || S_ISCHR(s.st_mode));
  if (is_log) return fd;
  close(fd);
  return -1;
}

void write_line(const char* text, std::size_t size) {
  if (file_path[0] != 0) {
    if (const int fd = open_log(); fd >= 0) {
      [[maybe_unused]] const ssize_t ignored = write(fd, text, size);
      close(fd);
      return;
    }
  }
  if (stderr_is_still_stderr() || replaced_stderr_is_a_log()) {
    [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text, size);
  } else {
    write_into_folder(text, size);
  }
}

}  // namespace

void set_run_folder(const std::string& folder, int rank) {
  const Descriptor opened = open_folder(folder);
  if (!opened || folder.size() >= sizeof folder_path) return;
  const std::lock_guard lock(folder_mutex);
  if (fstat(opened.get(), &folder_found) != 0) return;
  std::memcpy(folder_path, folder.c_str(), folder.size() + 1);
  std::snprintf(folder_log, sizeof folder_log, "profshim-rank%d.log", rank);
  if (waiting_bytes > 0) append(waiting, waiting_bytes);
  waiting_bytes = 0;
}

void leave_parent() {
  new (&folder_mutex) std::mutex;
  folder_path[0] = 0;
  waiting_bytes = 0;
  current_rank = -1;
}

void note_stderr() {
  struct stat s;
  if (fstat(STDERR_FILENO, &s) == 0) {
    stderr_at_start = {s.st_dev, s.st_ino, true};
  } else {
    stderr_at_start = {0, 0, true};
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
  std::replace_if(
      text, text + n, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
  text[n++] = '\n';
  const int saved_errno = errno;
  const SignalGuard guard;
  write_line(text, static_cast<std::size_t>(n));
  errno = saved_errno;
}

void text(LogLevel wanted, std::string lines) {
  if (wanted > level() || wanted == LogLevel::kQuiet) return;
  std::replace_if(
      lines.begin(), lines.end(),
      [](char c) { return c != '\n' && (static_cast<unsigned char>(c) < ' ' || c == 0x7f); }, ' ');
  const int saved_errno = errno;
  write_line(lines.data(), lines.size());
  errno = saved_errno;
}

// Decides whether log lines may go to descriptor 2 if the job replaced it. Ray's workers and daemons put a log there,
// but a program that closed stderr may get a data file. Descriptor 2 is a log if it is open for writing and is one of:
//
//     a regular file   not deleted: *.err, *.log, *.err.1 or *stderr*; or *.out and also descriptor 1 (nohup)
//     a pipe           with room for the line, if descriptors 0 and 1 are open and neither is its other end
//     a terminal       /dev/pts/N, /dev/tty or /dev/console
//
// Otherwise lines go to profshim-rankN.log in the run folder.

namespace {

bool is_open_for_writing(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags != -1 && (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0;
}

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// False for a data pipe that got stderr's number after stderr was closed: pipe() takes the lowest free numbers, so the
/// other end of such a pipe is at 0 or 1, or one of these is closed.
bool is_pipe_made_for_lines(const struct stat& target) {
  for (const int other : {STDIN_FILENO, STDOUT_FILENO}) {
    struct stat s;
    if (fstat(other, &s) != 0) return false;
    if (is_same(s, target) && !is_open_for_writing(other)) return false;
  }
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  return poll(&ready, 1, 0) == 1 && ready.revents == POLLOUT;
}

/// Returns "worker.err" for "worker.err.12", a rotated log.
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered = last != std::string_view::npos && last + 1 < name.size() && name[last] == '.';
  return numbered ? name.substr(0, last) : name;
}

}  // namespace

bool is_name_of_a_log(const char* path, bool same_as_stdout) {
  const char* const slash = std::strrchr(path, '/');
  const std::string_view name = without_number(slash != nullptr ? slash + 1 : path);
  if (name.ends_with(".out")) return same_as_stdout;
  return name.ends_with(".err") || name.ends_with(".log") || name.find("stderr") != std::string_view::npos;
}

bool replaced_stderr_is_a_log() {
  struct stat target;
  struct stat out;
  if (!is_open_for_writing(STDERR_FILENO) || fstat(STDERR_FILENO, &target) != 0) return false;
  if (S_ISFIFO(target.st_mode)) return is_pipe_made_for_lines(target);
  char path[4096];
  const ssize_t length = readlink("/proc/self/fd/2", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = 0;
  if (S_ISCHR(target.st_mode)) {
    return std::strncmp(path, "/dev/pts/", 9) == 0 || std::strcmp(path, "/dev/tty") == 0 ||
           std::strcmp(path, "/dev/console") == 0;
  }
  const bool same_as_stdout = fstat(STDOUT_FILENO, &out) == 0 && is_same(out, target);
  return S_ISREG(target.st_mode) && target.st_nlink > 0 && is_name_of_a_log(path, same_as_stdout);
}

}  // namespace profshim::log
