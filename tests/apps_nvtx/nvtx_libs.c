// Two builds of nvtx_all.c are two NVTX instances with one domain name.
#include <stdio.h>
#ifdef NVTX_APP_MPI
#include <mpi.h>
#endif

void a_prepare(const char*), a_step(int*), b_prepare(const char*), b_step(int*);

int main(int argc, char** argv) {
#ifdef NVTX_APP_MPI
  MPI_Init(&argc, &argv);
#else
  (void)argc;
  (void)argv;
#endif
  int levels[6];
  a_prepare("shared");
  b_prepare("shared");
  a_step(levels);
  b_step(levels);
  printf("levels %d %d %d\n", levels[0], levels[1], levels[2]);
#ifdef NVTX_APP_MPI
  MPI_Finalize();
#endif
  return 0;
}
