// Locks its memory before or after MPI_Init, calls MPI, and prints its resident MiB.   usage: locked early|late
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long resident_mib(void) {
  FILE* const file = fopen("/proc/self/status", "r");
  char line[256];
  long kib = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmRSS:", 6) == 0) kib = atol(line + 6);
  }
  fclose(file);
  return kib / 1024;
}

int main(int argc, char** argv) {
  const int is_early = argc > 1 && strcmp(argv[1], "early") == 0;
  if (is_early && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 4;
  MPI_Init(&argc, &argv);
  if (!is_early && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 4;
  for (int i = 0; i < 1000; ++i) MPI_Barrier(MPI_COMM_SELF);
  printf("%ld\n", resident_mib());
  MPI_Finalize();
  return 0;
}
