#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {
int __sigaction(int, const struct sigaction*, struct sigaction*);
sighandler_t bsd_signal(int, sighandler_t);
}

namespace {

void own(int) {}
void own_too(int, siginfo_t*, void*) {}

const char* name_of(const void* handler) {
  if (handler == reinterpret_cast<const void*>(SIG_DFL)) return "default";
  if (handler == reinterpret_cast<const void*>(SIG_IGN)) return "ignored";
  if (handler == reinterpret_cast<const void*>(SIG_ERR)) return "error";
  if (handler == reinterpret_cast<const void*>(SIG_HOLD)) return "held";
  if (handler == reinterpret_cast<const void*>(own) || handler == reinterpret_cast<const void*>(own_too)) return "own";
  return "SOMEBODY ELSE'S";
}

unsigned long bits(const sigset_t& set) {
  unsigned long first = 0;
  std::memcpy(&first, &set, sizeof first);
  return first;
}

void show(const char* what, const struct sigaction& action) {
  std::printf("  %s: %s flags %x mask %lx\n", what, name_of(reinterpret_cast<const void*>(action.sa_handler)),
              static_cast<unsigned>(action.sa_flags), bits(action.sa_mask));
}

void show(const char* what, int signal) {
  struct sigaction action {};
  std::memset(&action, 0x5a, sizeof action);
  errno = 0;
  const int result = sigaction(signal, nullptr, &action);
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  std::printf("  %s: %d errno %d blocked %d\n", what, result, errno, sigismember(&mask, signal));
  if (result == 0) show("  is", action);
}

void set(int signal, void (*handler)(int), int flags, int masked) {
  struct sigaction action {
  }, old{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (masked != 0) sigaddset(&action.sa_mask, masked);
  const int result = sigaction(signal, &action, &old);
  std::printf("  sigaction(%s): %d\n", name_of(reinterpret_cast<const void*>(handler)), result);
  if (result == 0) show("  was", old);
}

void by(const char* what, sighandler_t answer, int signal) {
  std::printf("  %s: answer %s\n", what, name_of(reinterpret_cast<const void*>(answer)));
  show(what, signal);
}

void ask_in_every_way(int signal) {
  std::printf("signal %d\n", signal);
  struct sigaction first {};
  const bool known = sigaction(signal, nullptr, &first) == 0;
  show("at first", signal);
  set(signal, SIG_DFL, SA_RESTART, SIGUSR2);
  show("set", signal);
  by("signal", ::signal(signal, own), signal);
  by("signal", ::signal(signal, SIG_DFL), signal);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  siginterrupt(signal, 1);
  show("siginterrupt", signal);
  siginterrupt(signal, 0);
  show("siginterrupt", signal);
#pragma GCC diagnostic pop
  by("sysv_signal", sysv_signal(signal, own), signal);
  by("sysv_signal", sysv_signal(signal, SIG_DFL), signal);
  by("bsd_signal", bsd_signal(signal, SIG_IGN), signal);
  by("bsd_signal", bsd_signal(signal, SIG_DFL), signal);
  by("ssignal", ssignal(signal, own), signal);
  by("ssignal", ssignal(signal, SIG_DFL), signal);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  by("sigset", sigset(signal, SIG_HOLD), signal);
  by("sigset", sigset(signal, SIG_HOLD), signal);
  by("sigset", sigset(signal, own), signal);
  by("sigset", sigset(signal, SIG_DFL), signal);
  sigignore(signal);
  show("sigignore", signal);
#pragma GCC diagnostic pop
  by("signal", ::signal(signal, SIG_DFL), signal);
  struct sigaction with_information {};
  with_information.sa_sigaction = own_too;
  with_information.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  struct sigaction old {};
  if (__sigaction(signal, &with_information, &old) == 0) show("__sigaction was", old);
  show("__sigaction", signal);
  if (known) sigaction(signal, &first, &old);
  show("as at first", signal);
}

void show_inherited(const char* how) {
  std::printf("%s\n", how);
  for (const int signal : {SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGXCPU}) show("inherited", signal);
  if (FILE* const file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::strncmp(line, "SigIgn", 6) == 0 || std::strncmp(line, "SigCgt", 6) == 0) std::printf("  %s", line);
    std::fclose(file);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const int signal :
       {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGQUIT, SIGPIPE, SIGCHLD, SIGKILL, 0, 65, -1})
    ask_in_every_way(signal);
  signal(SIGUSR1, SIG_IGN);
  std::fflush(stdout);

  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    show_inherited("forked");
    ask_in_every_way(SIGTERM);
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, &status, 0);
  child = fork();
  if (child == 0) {
    raise(SIGTERM);
    _exit(1);
  }
  waitpid(child, &status, 0);
  std::printf("forked and ended by itself: signal %d\n", WTERMSIG(status));
  std::fflush(stdout);
  child = vfork();
  if (child == 0) {
    signal(SIGINT, SIG_IGN);
    struct sigaction action {};
    sigaction(SIGTERM, nullptr, &action);
    if (action.sa_handler != SIG_DFL) _exit(1);
    execl("/bin/grep", "grep", "Sig[IC]g[nt]", "/proc/self/status", nullptr);
    _exit(127);
  }
  waitpid(child, &status, 0);
  std::printf("vforked: %d\n", status);
  show("parent of it", SIGINT);
  std::fflush(stdout);
  if (std::system("grep 'Sig[IC]g[nt]' /proc/self/status") != 0) return 1;
  show("after system()", SIGINT);
  show("after system()", SIGQUIT);
  std::fflush(stdout);
  execlp("grep", "grep", "Sig[IC]g[nt]", "/proc/self/status", nullptr);
  return 2;
}
