#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

int main(int argc, char** argv) {
  int in, out = 0, flag;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 10; ++k) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    nvtxRangePushA("inside");
    for (int k = 0; k < 10; ++k) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    nvtxRangePop();
  }
  MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
