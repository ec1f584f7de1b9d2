// Cancels threads at random moments of their MPI calls, or a thread that has begun to end the process after CALLS
// calls.
//   usage: cancelled deferred|asynchronous TIMES
//          cancelled exit|_exit CALLS
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

int type = PTHREAD_CANCEL_DEFERRED;

void* work(void*) {
  int before = 0;
  pthread_setcanceltype(type, &before);
  for (;;) {
    MPI_Send(nullptr, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    if (type == PTHREAD_CANCEL_DEFERRED) pthread_testcancel();
  }
}

std::atomic<bool> is_ending{false};
bool is_abrupt = false;

void* end_process(void*) {
  int before = 0;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
  is_ending = true;
  if (is_abrupt) _exit(4);
  std::exit(4);
}

/// Without a library that delays it, the process has ended before the thread is cancelled.
int cancel_ending_thread(int calls) {
  for (int i = 0; i < calls; ++i) MPI_Send(nullptr, 0, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  std::puts("called");
  std::fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, nullptr, end_process, nullptr);
  while (!is_ending) sched_yield();
  const timespec pause{0, 20'000'000};
  nanosleep(&pause, nullptr);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  return 5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (std::string(argv[1]) == "asynchronous") type = PTHREAD_CANCEL_ASYNCHRONOUS;
  int provided = 0, cancelled = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  is_abrupt = std::string(argv[1]) == "_exit";
  if (is_abrupt || std::string(argv[1]) == "exit") return cancel_ending_thread(std::atoi(argv[2]));
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, work, nullptr);
    const timespec pause{0, std::rand() % 200 * 1000};
    nanosleep(&pause, nullptr);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED ? 1 : 0;
  }
  std::printf("cancelled %d\n", cancelled);
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_SELF);
  std::fflush(stdout);
  _Exit(3);  // MPICH's MPI_Finalize() fails if a cancelled thread held a lock
}
