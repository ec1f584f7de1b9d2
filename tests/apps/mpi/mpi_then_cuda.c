/* Calls MPI_Allreduce five times, then begins to use CUDA if there is a driver, then calls it ten times, five on a part
   of MPI_COMM_WORLD. With an argument, it does not use CUDA. */
#include <dlfcn.h>
#include <mpi.h>

#include "counts.h"

static void reduce(int times, MPI_Comm comm) {
  int one = 1, sum = 0;
  for (int i = 0; i < times; ++i) COUNT(MPI_Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void begin_cuda(void) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*const init)(unsigned) = driver != NULL ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
  if (init != NULL) init(0);
}

int main(int argc, char** argv) {
  COUNT(MPI_Init)(&argc, &argv);
  reduce(5, MPI_COMM_WORLD);
  if (argc == 1) begin_cuda();
  MPI_Comm part;
  COUNT(MPI_Comm_split)(MPI_COMM_WORLD, 0, 0, &part);
  reduce(5, part);
  reduce(5, MPI_COMM_WORLD);
  COUNT(MPI_Comm_free)(&part);
  finalize_and_print_counts();
  return 0;
}
