#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000;
  MPI_Init(&argc, &argv);
  for (long i = 0; i < count; ++i) {
    char name[80];
    snprintf(name, sizeof name, "compute the forces between the particles of cell %ld", i % 1000);
    nvtxRangePushA(name);
    nvtxRangePop();
    if (i % 200 == 199) usleep(2000);
  }
  MPI_Finalize();
  return 0;
}
