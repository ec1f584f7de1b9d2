// A short loop, then a long one. Usage: two_loops SHORT LONG (numbers of iterations of 100 ms)
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double value = 1, sum = 0;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
  }
  for (int i = 0; i < atoi(argv[2]); ++i) {
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    usleep(100000);
  }
  MPI_Finalize();
  return 0;
}
