/* The slow rank comes to MPI_Allreduce last: it waits for a message of each other rank, which sends it just before. At
   step `end`, it kills the job while the other ranks wait in MPI_Allreduce. The library does not see PMPI_ calls. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "counts.h"

int main(int argc, char** argv) {
  const int slow = argc > 1 ? atoi(argv[1]) : 2, steps = argc > 2 ? atoi(argv[2]) : 10;
  const int ms = argc > 3 ? atoi(argv[3]) : 20, end = argc > 4 ? atoi(argv[4]) : -1;
  enum { kElements = 256, kMostRanks = 64 };
  double data[kElements] = {0};
  int rank, size, own = getpid(), pids[kMostRanks];
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMostRanks) return 1;
  PMPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  COUNT(MPI_Barrier)(MPI_COMM_WORLD);
  for (int step = 0; step < steps; ++step) {
    if (rank == slow) {
      for (int i = 1; i < size; ++i)
        PMPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (slow < size) {
      PMPI_Send(NULL, 0, MPI_INT, slow, step, MPI_COMM_WORLD);
    }
    if (rank == slow && step == end) {
      sleep(1);
      for (int i = 0; i < size; ++i) {
        if (i != rank) kill(pids[i], SIGKILL);
      }
      kill(own, SIGKILL);
    }
    if (rank == slow) usleep(1000 * ms);
    COUNT(MPI_Allreduce)(MPI_IN_PLACE, data, kElements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  finalize_and_print_counts();
  return 0;
}
