// A child ("itself": raise()) sends SIGNAL after CALLS MPI calls. "went on" is printed only if the kernel drops SIGNAL.
//   usage: signalled SIGNAL computes|pauses|sleeps|polls|itself|thread|ignored|handler|sigwait|signalfd [CALLS]
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

volatile sig_atomic_t handled = 0;
void on_signal(int number) { handled = number; }

void call(int times) {
  int one = 1, sum = 0;
  for (int i = 0; i < times; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

char state_of(pid_t pid) {
  char path[64], text[512] = "";
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = open(path, O_RDONLY);
  const ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  const std::string line = n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "";
  const std::size_t bracket = line.rfind(") ");
  return bracket == std::string::npos ? 'X' : line[bracket + 2];
}

// `asleep`: the child waits until this process sleeps in the kernel.
pid_t send_from_child(int number, bool asleep) {
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  while (asleep && state_of(parent) == 'R') usleep(1000);
  kill(parent, number);
  _exit(0);
}

void* compute(void*) {
  for (;;) __asm__ volatile("");
  return nullptr;
}

[[noreturn]] void wait_for_the_end(int number, const std::string& how) {
  if (how == "itself") {
    raise(number);
    std::puts("went on");
    std::exit(1);
  }
  send_from_child(number, how != "computes" && how != "thread");
  // A larger trace would take longer to write than the test allows, so there are few calls.
  while (how == "computes") {
    call(1);
    for (int i = 0; i < 1000000; ++i) __asm__ volatile("");
  }
  if (how == "thread") compute(nullptr);
  if (how == "pauses") pause();
  if (how == "sleeps") sleep(60);
  if (how == "polls") poll(nullptr, 0, 60000);
  std::puts("went on");
  std::exit(1);
}

int outlive(int number, const std::string& how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  if (how == "ignored") signal(number, SIG_IGN);
  if (how == "handler") signal(number, on_signal);
  waitpid(send_from_child(number, false), nullptr, 0);
  if (how == "ignored") return 3;
  if (how == "handler") {
    while (handled == 0) usleep(1000);  // not pause(), because another thread may run the handler
    return handled == number ? 4 : 1;
  }
  if (how == "sigwait") {
    int got = 0;
    return sigwait(&set, &got) == 0 && got == number ? 5 : 1;
  }
  signalfd_siginfo info{};
  const int file = signalfd(-1, &set, SFD_CLOEXEC);
  return read(file, &info, sizeof info) == sizeof info && static_cast<int>(info.ssi_signo) == number ? 6 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int number = std::atoi(argv[1]), calls = argc > 3 ? std::atoi(argv[3]) : 100;
  const std::string how = argv[2];
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // MPI's threads inherit the mask only if the signal is blocked before MPI_Init.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  if (how == "sigwait" || how == "signalfd") sigprocmask(SIG_BLOCK, &set, nullptr);
  MPI_Init(&argc, &argv);
  signal(number, SIG_DFL);  // some MPI libraries catch signals
  call(calls);
  std::printf("called %d times\n", calls);
  std::fflush(stdout);
  pthread_t thread;
  if (how == "thread") pthread_create(&thread, nullptr, compute, nullptr);
  const bool outlives = how == "ignored" || how == "handler" || how == "sigwait" || how == "signalfd";
  if (!outlives) wait_for_the_end(number, how);
  const int status = outlive(number, how);
  MPI_Finalize();
  return status;
}
