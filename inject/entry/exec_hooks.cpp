// exec*() and daemon() end a recording process, so these hooks first write its traces.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "inject/core/loader/real_function.h"
#include "inject/core/macros.h"
#include "profshim/base/log.h"
#include "profshim/base/text/message_text.h"
#include "profshim/session.h"

namespace profshim::inject {
namespace {

using ExecveFunction = int (*)(const char*, char* const*, char* const*);
using FexecveFunction = int (*)(int, char* const*, char* const*);
using ExecveatFunction = int (*)(int, const char*, char* const*, char* const*, int);
using DaemonFunction = int (*)(int, int);
constinit NextFunction<ExecveFunction> next_execve("execve"), next_execvpe("execvpe");
constinit NextFunction<FexecveFunction> next_fexecve("fexecve");
constinit NextFunction<ExecveatFunction> next_execveat("execveat");
constinit NextFunction<DaemonFunction> next_daemon("daemon");

__attribute__((constructor)) void look_up() {
  next_execve.get();
  next_execvpe.get();
  next_fexecve.get();
  next_execveat.get();
  next_daemon.get();
}

/// An exec that fails, as in a caller's search through PATH, must not end the recording.
bool is_program(int folder, const char* path, int flags) {
  if (path == nullptr) return false;
  struct stat s {};
  if (fstatat(folder, path, &s, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) != 0 || !S_ISREG(s.st_mode))
    return false;
  return (flags & AT_EMPTY_PATH) != 0 ? (s.st_mode & 0111) != 0 : faccessat(folder, path, X_OK, AT_EACCESS) == 0;
}

/// Must not allocate: exec is async-signal-safe.
bool is_program_on_path(const char* name) {
  if (name == nullptr) return false;
  if (std::strchr(name, '/') != nullptr) return is_program(AT_FDCWD, name, 0);
  const char* folders = std::getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  const std::size_t name_bytes = std::strlen(name) + 1;
  for (;;) {
    const char* const end = strchrnul(folders, ':');
    const auto length = static_cast<std::size_t>(end - folders);
    char path[4096];
    if (name_bytes > 1 && length + 1 + name_bytes <= sizeof path) {
      std::memcpy(path, folders, length);
      if (length > 0) path[length] = '/';
      std::memcpy(path + length + (length > 0 ? 1 : 0), name, name_bytes);
      if (is_program(AT_FDCWD, path, 0)) return true;
    }
    if (*end == 0) return false;
    folders = end + 1;
  }
}

template <class Function, class Predicate, class... Arguments>
int finish_and_call(const char* what, Function next, const Predicate& will_succeed, Arguments... arguments) {
  if (next == nullptr) return errno = ENOSYS, -1;
  bool records = session::ends_with_this_process();
  if (records) {
    const int saved_errno = errno;
    records = will_succeed();
    errno = saved_errno;
    if (records) session::finish(session::End::kReplaced);
  }
  const int result = next(arguments...);
  if (records && result != 0) {
    const int saved_errno = errno;
    log::line(LogLevel::kWarn,
              "%s failed (%s), but the recording has already ended: the rest of this process is not recorded", what,
              error_text(saved_errno));
    errno = saved_errno;
  }
  return result;
}

int exec_file(const char* path, char* const* arguments, char* const* environment) {
  const auto will_succeed = [path] { return is_program(AT_FDCWD, path, 0); };
  return finish_and_call("exec", next_execve.get(), will_succeed, path, arguments, environment);
}

int exec_on_path(const char* name, char* const* arguments, char* const* environment) {
  const auto will_succeed = [name] { return is_program_on_path(name); };
  return finish_and_call("exec", next_execvpe.get(), will_succeed, name, arguments, environment);
}

std::size_t count(std::va_list more) {
  std::size_t n = 0;
  while (va_arg(more, char*) != nullptr) ++n;
  return n;
}

}  // namespace
}  // namespace profshim::inject

using namespace profshim::inject;

PROFSHIM_EXPORT int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return exec_file(path, arguments, environment);
}
PROFSHIM_EXPORT int execv(const char* path, char* const* arguments) noexcept {
  return exec_file(path, arguments, environ);
}
PROFSHIM_EXPORT int execvp(const char* name, char* const* arguments) noexcept {
  return exec_on_path(name, arguments, environ);
}
PROFSHIM_EXPORT int execvpe(const char* name, char* const* arguments, char* const* environment) noexcept {
  return exec_on_path(name, arguments, environment);
}

// Copies the arguments to the stack: a vfork() child must not allocate. `more` stays open for execle()'s last argument.
#define PROFSHIM_GATHER(first)                                                             \
  std::va_list more;                                                                       \
  va_start(more, first);                                                                   \
  const std::size_t n = 1 + count(more);                                                   \
  va_end(more);                                                                            \
  char** const arguments = static_cast<char**>(__builtin_alloca((n + 1) * sizeof(char*))); \
  va_start(more, first);                                                                   \
  arguments[0] = const_cast<char*>(first);                                                 \
  for (std::size_t i = 1; i <= n; ++i) arguments[i] = va_arg(more, char*);

PROFSHIM_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  PROFSHIM_GATHER(first)
  va_end(more);
  return exec_file(path, arguments, environ);
}
PROFSHIM_EXPORT int execlp(const char* name, const char* first, ...) noexcept {
  PROFSHIM_GATHER(first)
  va_end(more);
  return exec_on_path(name, arguments, environ);
}
PROFSHIM_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  PROFSHIM_GATHER(first)
  char* const* const environment = va_arg(more, char* const*);
  va_end(more);
  return exec_file(path, arguments, environment);
}

PROFSHIM_EXPORT int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
  const auto will_succeed = [file] { return is_program(file, "", AT_EMPTY_PATH); };
  return finish_and_call("exec", next_fexecve.get(), will_succeed, file, arguments, environment);
}

PROFSHIM_EXPORT int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
                             int flags) noexcept {
  const auto will_succeed = [=] { return is_program(folder, path, flags); };
  return finish_and_call("exec", next_execveat.get(), will_succeed, folder, path, arguments, environment, flags);
}

PROFSHIM_EXPORT int daemon(int stay, int keep) noexcept {
  if (profshim::session::ends_with_this_process()) {
    profshim::log::line(
        profshim::LogLevel::kWarn,
        "daemon() ends the recording: the process that it starts is not recorded; run the program in the "
        "foreground");
  }
  return finish_and_call(
      "daemon", next_daemon.get(), [] { return true; }, stay, keep);
}
