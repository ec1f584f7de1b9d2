// A short loop, then a long one, which ends earlier if FILE comes. Usage: two_loops SHORT LONG [FILE] (numbers of
// iterations of 100 ms)
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double value = 0, sum = 0, ignored = 0;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
  }
  for (int i = 0; i < atoi(argv[2]) && sum == 0; ++i) {
    value = argc > 3 && access(argv[3], F_OK) == 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&value, &ignored, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    usleep(100000);
  }
  MPI_Finalize();
  return 0;
}
