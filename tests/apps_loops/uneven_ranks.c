// A loop of one collective. Rank 0 does more in every fifth iteration, so that alone it looks like a loop of five.
// The others end later. Usage: uneven_ranks MILLISECONDS
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double value = 1, sum = 0;
  for (int i = 0; i < 60; ++i) {
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    usleep(10000);
    if (rank != 0 || i % 5 != 4) continue;
    for (int k = 0; k < 4; ++k) {
      MPI_Sendrecv(&value, 1, MPI_DOUBLE, 0, 0, &sum, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
      usleep(20000);
    }
  }
  MPI_Finalize();
  if (rank != 0) usleep(atoi(argv[1]) * 1000);
  return 0;
}
