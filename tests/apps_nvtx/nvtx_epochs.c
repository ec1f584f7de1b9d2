// A resumed job does not number epochs and steps from 0.
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

static int argument(int argc, char** argv, int at, int otherwise) { return argc > at ? atoi(argv[at]) : otherwise; }

int main(int argc, char** argv) {
  const int first_epoch = argument(argc, argv, 1, 0), epochs = argument(argc, argv, 2, 3);
  const int steps = argument(argc, argv, 3, 4);
  int step = argument(argc, argv, 4, 0);
  char name[64];
  MPI_Init(&argc, &argv);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    snprintf(name, sizeof name, "epoch %d", first_epoch + epoch);
    nvtxRangePushA(name);
    for (int i = 0; i < steps; ++i) {
      snprintf(name, sizeof name, "step %d", step++);
      nvtxRangePushA(name);
      nvtxRangePushA("inside");
      MPI_Barrier(MPI_COMM_WORLD);
      nvtxRangePop();
      nvtxRangePop();
    }
    nvtxRangePop();
  }
  MPI_Finalize();
  return 0;
}
