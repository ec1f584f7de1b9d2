#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "profshim/base/text/message_text.h"
#include "run.h"

namespace profshim::cli {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Set before the signals are unblocked.
volatile sig_atomic_t child_pid = 0;

void forward(int signal, siginfo_t* info, void*) {
  // A signal from the terminal (si_code > 0) goes to the whole foreground process group: the child has it already.
  const int saved = errno;
  if (info->si_code <= 0 && child_pid > 0) kill(child_pid, signal);
  errno = saved;
}

sigset_t forwarded_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  return set;
}

/// Ignored signals stay ignored (nohup), here and in the child.
void install_handlers() {
  for (const int signal : kForwarded) {
    struct sigaction action = {}, before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    action.sa_sigaction = forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

[[noreturn]] void exec_or_exit(char** argv) {
  execvp(argv[0], argv);
  const int error = errno;
  std::fprintf(stderr, "profshim run: %s: %s\n", argv[0], error_text(error));
  _exit(error == ENOENT ? 127 : 126);
}

}  // namespace

int run_child(char** argv) {
  const sigset_t signals = forwarded_set();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  install_handlers();
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error(std::string("cannot start a process: ") + error_text(errno));
  if (pid == 0) {
    // Reset before unblocking: otherwise our handler would consume a signal that arrives before exec.
    for (const int signal : kForwarded) {
      struct sigaction action = {};
      sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) std::signal(signal, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    exec_or_exit(argv);
  }
  child_pid = pid;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("cannot wait for the command: ") + error_text(errno));
  }
  child_pid = 0;
  return status;
}

int exit_like(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return WEXITSTATUS(wait_status);
  const int signal = WTERMSIG(wait_status);
  const rlimit no_core = {0, 0};  // only the child's core dump is useful
  setrlimit(RLIMIT_CORE, &no_core);
  std::fflush(nullptr);
  std::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
  return 128 + signal;
}

}  // namespace profshim::cli
