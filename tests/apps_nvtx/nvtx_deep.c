#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int ranges = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < ranges; ++i) nvtxRangePushA("range");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < ranges; ++i) nvtxRangePop();
  MPI_Finalize();
  return 0;
}
