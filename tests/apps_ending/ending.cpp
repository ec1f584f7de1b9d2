//   usage: ending HOW [CALLS [PAUSE_US]]
//   HOW: return exit exit_unfinalised _exit quick_exit abort throw exec MPI_Abort own_handler pthread_exit forever, or
//   the number of a signal. "forever" pauses after every 100 calls, or never if the pause is -1: the kernel counts CPU
//   time at its ticks, which a thread that pauses can miss.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

void on_term(int) {
  const char text[] = "own handler ran\n";
  (void)!write(1, text, sizeof text - 1);
  _exit(12);
}

void call(int times) {
  int one = 1, sum = 0;
  for (int i = 0; i < times; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "return";
  const int calls = argc > 2 ? atoi(argv[2]) : 100;
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  call(calls);
  std::printf("{\"rank\":%d,\"function\":\"MPI_Allreduce\",\"count\":%d}\n", rank, calls);
  std::fflush(stdout);
  if (how == "forever")
    for (const int pause_us = argc > 3 ? atoi(argv[3]) : 0;;) {
      call(100);
      if (pause_us >= 0) usleep(pause_us);
    }
  // Without the barrier, the launcher could kill the slower rank in its last MPI_Allreduce.
  MPI_Barrier(MPI_COMM_WORLD);

  if (how == "exit_unfinalised") exit(4);
  if (how == "_exit") _exit(5);
  if (how == "quick_exit") quick_exit(6);
  if (how == "abort") abort();
  if (how == "throw") throw std::runtime_error("nobody catches this");
  if (how == "MPI_Abort") MPI_Abort(MPI_COMM_WORLD, 9);
  if (how == "own_handler") {
    signal(SIGTERM, on_term);
    raise(SIGTERM);
  }
  if (atoi(how.c_str()) > 0) {
    signal(atoi(how.c_str()), SIG_DFL);  // some MPI libraries catch signals
    raise(atoi(how.c_str()));
  }
  MPI_Finalize();
  if (how == "exec") execl("/bin/sh", "sh", "-c", "echo the next program; exit 8", nullptr);
  if (how == "exit") exit(3);
  if (how == "pthread_exit") pthread_exit(nullptr);
  return 0;
}
