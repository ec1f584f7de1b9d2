#include <mpi.h>

#include "counts.h"

int run_mpi_job(void) {
  int rank, size, sum, failures = 0;
  COUNT(MPI_Init)(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < 5; ++step) {
    int one = 1;
    COUNT(MPI_Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    failures += sum != size;
  }
  finalize_and_print_counts();
  return failures != 0;
}
