// Cancels threads at random moments of their MPI calls.
//   usage: cancelled deferred|asynchronous TIMES
#include <mpi.h>
#include <pthread.h>
#include <time.h>

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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (std::string(argv[1]) == "asynchronous") type = PTHREAD_CANCEL_ASYNCHRONOUS;
  int provided = 0, cancelled = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
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
