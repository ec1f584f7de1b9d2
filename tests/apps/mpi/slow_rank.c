/* One rank comes late to every reduction: it sleeps before each. Usage: slow_rank [rank] [steps] [ms] */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "counts.h"

int main(int argc, char** argv) {
  const int slow = argc > 1 ? atoi(argv[1]) : 2, steps = argc > 2 ? atoi(argv[2]) : 10;
  const int ms = argc > 3 ? atoi(argv[3]) : 20;
  enum { kElements = 256 };
  double data[kElements] = {0};
  int rank;
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  COUNT(MPI_Barrier)(MPI_COMM_WORLD);
  for (int step = 0; step < steps; ++step) {
    if (rank == slow) usleep(1000 * ms);
    COUNT(MPI_Allreduce)(MPI_IN_PLACE, data, kElements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  finalize_and_print_counts();
  return 0;
}
