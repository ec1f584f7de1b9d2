// Runs a function in a child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace profshim::test {

/// Returns the child's exit status, or 128 and the signal that ended it. `body` returns the exit status.
inline int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace profshim::test
