#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < count; ++i) {
    MPI_Comm communicator;
    MPI_Comm_dup(MPI_COMM_SELF, &communicator);
    MPI_Barrier(communicator);
    MPI_Comm_free(&communicator);
  }
  MPI_Finalize();
  return 0;
}
