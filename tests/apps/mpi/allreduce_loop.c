#include <mpi.h>
#include <stdlib.h>

#include "counts.h"

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 10, elements = argc > 2 ? atoi(argv[2]) : 1024;
  int rank, size, failures = 0;
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* const data = malloc(sizeof(double) * elements);
  for (int step = 0; step < steps; ++step) {
    COUNT(MPI_Barrier)(MPI_COMM_WORLD);
    for (int i = 0; i < elements; ++i) data[i] = rank == 0 ? step : -1;
    COUNT(MPI_Bcast)(data, elements, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    COUNT(MPI_Allreduce)(MPI_IN_PLACE, data, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < elements; ++i) failures += data[i] != (double)step * size;
  }
  free(data);
  finalize_and_print_counts();
  return failures != 0;
}
