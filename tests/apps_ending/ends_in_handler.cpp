// A handler of SIGPROF or SIGALRM interrupts MPI calls about a thousand times per second. From its COUNTth call on, if
// MPI was called by then, or at the end of main(), it ends the process, also on several threads.
//   usage: ends_in_handler prof|alrm _exit|exit|quick_exit|at_end main|thread COUNT
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string how;
int count = 0;
volatile sig_atomic_t handled = 0, has_called = 0, is_ending = 0;

void on_timer(int) {
  handled = handled + 1;
  if (how == "at_end" && is_ending != 0) _exit(9);
  if (handled < count || has_called == 0) return;
  if (how == "_exit") _exit(9);
  if (how == "exit") std::exit(10);
  if (how == "quick_exit") std::quick_exit(11);
}

void call() {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  has_called = 1;
}

void* work(void*) {
  do {
    call();
  } while (how != "at_end" || handled < count);
  return nullptr;
}

void block(int number, int change) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(change, &set, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const bool is_prof = std::string(argv[1]) == "prof";
  const int number = is_prof ? SIGPROF : SIGALRM;
  how = argv[2];
  count = std::atoi(argv[4]);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  struct sigaction action {};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
  const itimerval every{{0, 1000}, {0, 1000}};
  if (std::string(argv[3]) == "thread") {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    block(number, SIG_BLOCK);
    setitimer(is_prof ? ITIMER_PROF : ITIMER_REAL, &every, nullptr);
    pthread_join(thread, nullptr);
  } else {
    setitimer(is_prof ? ITIMER_PROF : ITIMER_REAL, &every, nullptr);
    work(nullptr);
  }
  is_ending = 1;
  if (how != "at_end") MPI_Finalize();
  return 12;
}
