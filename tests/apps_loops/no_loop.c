// Calls that never recur in the same order.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  unsigned state = 1;
  double value = 1, sum = 0;
  for (int i = 0; i < 300; ++i) {
    state = state * 1103515245u + 12345u;
    switch (state >> 16 & 3) {
      case 0:
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
      case 1:
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        break;
      case 2:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
      default:
        MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
