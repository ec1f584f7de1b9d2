/* The slow rank comes to MPI_Allreduce last: it waits for a message of each other rank, which sends it just before, and
   then until each has had a CPU for a millisecond more, and so is in MPI_Allreduce. At step `end`, it kills the
   job while the other ranks wait in MPI_Allreduce. The library does not see PMPI_ calls. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "counts.h"

enum { kElements = 256, kMostRanks = 64 };

/* Of the main thread of a process; 0 where /proc has no schedstat. */
static long cpu_ns(int pid) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/task/%d/schedstat", pid, pid);
  FILE* file = fopen(name, "r");
  long ns = 0;
  if (file != NULL) {
    if (fscanf(file, "%ld", &ns) != 1) ns = 0;
    fclose(file);
  }
  return ns;
}

/* Linux brings the numbers of a running thread up to date at each clock tick: the first reading may be an old one. */
static void wait_until_in_allreduce(const int* pids, int size, int own_rank) {
  const long kEnough_ns = 1000 * 1000;
  for (int i = 0; i < 2 * size; ++i) {
    const int pid = pids[i / 2];
    if (i / 2 == own_rank) continue;
    const long before = cpu_ns(pid);
    for (long now = before; now != 0 && now < before + kEnough_ns; now = cpu_ns(pid)) usleep(500);
  }
}

int main(int argc, char** argv) {
  const int slow = argc > 1 ? atoi(argv[1]) : 2, steps = argc > 2 ? atoi(argv[2]) : 10;
  const int ms = argc > 3 ? atoi(argv[3]) : 20, end = argc > 4 ? atoi(argv[4]) : -1;
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
      wait_until_in_allreduce(pids, size, rank);
    } else if (slow < size) {
      PMPI_Send(NULL, 0, MPI_INT, slow, step, MPI_COMM_WORLD);
    }
    if (rank == slow && step == end) {
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
