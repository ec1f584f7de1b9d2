#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int receives = argc > 1 ? atoi(argv[1]) : 1000;
  MPI_Request* const requests = malloc((size_t)receives * sizeof *requests);
  int value = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < receives; ++i) MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[i]);
  for (int i = 0; i < receives; ++i) MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Waitall(receives, requests, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  free(requests);
  return 0;
}
