// Forks in each way that exists. The child calls MPI_Send, which needs no peer, and ends; the parent makes calls of its
// own meanwhile. A call's count tells whose call it is.
//
// usage: raw_fork fork|_Fork|syscall|clone|clone3|glibc_clone exit|_exit|SIGTERM|inside
//   exit, _exit, SIGTERM   how the child ends
//   inside                 forks in a call of MPI: the child returns from this call, too
#include <dlfcn.h>
#include <linux/sched.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int kForks = 50, kCalls = 20, kOfChild = 1'000'000;
std::string way, end;
std::vector<char> data(kOfChild);
pid_t child = -1;

void send(int count) { MPI_Send(data.data(), count, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD); }

int body_of_clone(void*) {
  for (int i = 0; i < kCalls; ++i) send(kOfChild);
  _exit(7);
}

pid_t fork_by_way() {
  if (way == "fork") return fork();
  if (way == "_Fork") return reinterpret_cast<pid_t (*)()>(dlsym(RTLD_DEFAULT, "_Fork"))();
  if (way == "syscall") return static_cast<pid_t>(syscall(SYS_fork));
  if (way == "clone") return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (way == "glibc_clone") {
    static char stack[1 << 20];
    return clone(body_of_clone, stack + sizeof stack, SIGCHLD, nullptr);
  }
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

void end_of_child() {
  for (int i = 0; i < kCalls; ++i) send(kOfChild);
  if (end == "SIGTERM") {
    kill(getpid(), SIGTERM);
    for (;;) pause();
  }
  if (end == "exit") exit(7);
  _exit(7);
}

void on_error(MPI_Comm*, int*, ...) { child = fork_by_way(); }

pid_t fork_inside_a_call(int count) {
  constexpr int kNoRank = 12345;
  MPI_Send(data.data(), count, MPI_CHAR, kNoRank, 0, MPI_COMM_WORLD);
  return child;
}

}  // namespace

int main(int argc, char** argv) {
  way = argv[1];
  end = argv[2];
  MPI_Init(&argc, &argv);
  MPI_Errhandler forks;
  MPI_Comm_create_errhandler(on_error, &forks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, forks);
  int right = 0;
  for (int i = 1; i <= kForks; ++i) {
    const pid_t pid = end == "inside" ? fork_inside_a_call(i) : fork_by_way();
    if (pid == 0) end_of_child();
    for (int k = 0; k < kCalls; ++k) send(i);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) continue;
    right += end == "SIGTERM" ? WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM
                              : WIFEXITED(status) && WEXITSTATUS(status) == 7;
  }
  MPI_Finalize();
  std::printf("%d children\n", right);
  return 0;
}
