// Decides whether log lines may go to descriptor 2 if the job replaced it. Ray's workers and daemons put a log there,
// but a program that closed stderr may get a data file. Descriptor 2 is a log if it is open for writing and is one of:
//
//     a regular file   not deleted: *.err, *.log, *.err.1 or *stderr*; or *.out and also descriptor 1 (nohup)
//     a pipe           with room for the line, if descriptors 0 and 1 are open and neither is its other end
//     a terminal       /dev/pts/N, /dev/tty or /dev/console
//
// Otherwise lines go to profshim-rankN.log in the run folder.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "profshim/base/log_folder.h"

namespace profshim::log {
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
