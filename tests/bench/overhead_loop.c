/* A loop of work and calls that prints the nanoseconds it took. usage: overhead_loop mpi|nvtx COUNT */
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work(void) {
  for (volatile int i = 0; i < 40; ++i) continue;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long count = atol(argv[2]);
  const int is_mpi = strcmp(argv[1], "mpi") == 0;
  double value = 1;
  MPI_Init(&argc, &argv);
  const double begin = now_ns();
  for (long i = 0; i < count; ++i) {
    work();
    if (is_mpi) {
      MPI_Send(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    } else {
      nvtxRangePushA("forward pass");
      nvtxRangePop();
    }
  }
  printf("%.0f\n", now_ns() - begin);
  MPI_Finalize();
  return 0;
}
