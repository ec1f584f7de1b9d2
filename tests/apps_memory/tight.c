/* Allocates MIB of memory. Exit status 3: the allocation failed.
   usage: tight touch|reserve|shared MIB CALLS
   touch: writes to the memory; reserve: does not; shared: takes a shared MPI window after the calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPieces = 32, kMiB = 1 << 20 };

static void call(long times) {
  for (long i = 0; i < times; ++i) MPI_Barrier(MPI_COMM_SELF);
}

static int take_shared(long mib) {
  char* mine = NULL;
  MPI_Win window;
  if (MPI_Win_allocate_shared(mib * kMiB, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window) != MPI_SUCCESS) return 0;
  memset(mine, 1, (size_t)mib * kMiB);
  MPI_Win_free(&window);
  return 1;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "touch";
  const long mib = argc > 2 ? atol(argv[2]) : 1, calls = argc > 3 ? atol(argv[3]) : 1000;
  MPI_Init(&argc, &argv);
  long got = 0;
  for (int i = 0; i < kPieces; ++i) {
    call(calls / kPieces);
    if (strcmp(how, "shared") == 0) continue;
    const size_t bytes = (size_t)mib * kMiB / kPieces;
    char* const piece = malloc(bytes);
    if (piece == NULL) {
      printf("malloc failed with %ld of %d pieces\n", got, kPieces);
      fflush(stdout);
      _Exit(3);
    }
    if (strcmp(how, "touch") == 0) memset(piece, 1, bytes);
    ++got;
  }
  if (strcmp(how, "shared") == 0 && !take_shared(mib)) return 3;
  printf("had %ld MiB, made %ld calls\n", mib, calls / kPieces * kPieces);
  MPI_Finalize();
  return 0;
}
