/* overhead_loop mpi|nvtx COUNT: prints the nanoseconds of one turn of the loop in the fastest of 50 slices. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
static int nvtxRangePushA(const char* text) { return text == 0; }
static int nvtxRangePop(void) { return 0; }
#endif

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void work(void) {
  for (volatile int i = 0; i < 40; ++i) continue;
}

enum { kSlices = 50 };

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long count = atol(argv[2]);
  const int is_mpi = strcmp(argv[1], "mpi") == 0;
  double value = 1;
  MPI_Init(&argc, &argv);
  double least = 1e300;
  for (int slice = 0; slice < kSlices; ++slice) {
    const double begin = now_ns();
    for (long i = 0; i < count / kSlices; ++i) {
      work();
      if (is_mpi) {
        MPI_Send(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
      } else {
        nvtxRangePushA("forward pass");
        nvtxRangePop();
      }
    }
    const double turn = (now_ns() - begin) / (double)(count / kSlices);
    if (turn < least) least = turn;
  }
  printf("%.2f\n", least);
  MPI_Finalize();
  return 0;
}
