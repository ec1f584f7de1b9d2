/* Calls MPI_Allreduce five times, then begins to use CUDA, then calls it ten times, five on a part of MPI_COMM_WORLD.
   With an argument, it does not use CUDA. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static void reduce(int times, MPI_Comm comm) {
  int one = 1, sum = 0;
  for (int i = 0; i < times; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static int begin_cuda(void) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  int (*const init)(unsigned) = driver != NULL ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
  return init != NULL ? init(0) : -1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  reduce(5, MPI_COMM_WORLD);
  if (argc == 1 && begin_cuda() != 0) fprintf(stderr, "no CUDA\n");
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &part);
  reduce(5, part);
  reduce(5, MPI_COMM_WORLD);
  MPI_Comm_free(&part);
  MPI_Finalize();
  return 0;
}
