/* Calls MPI_Barrier argv[1] times and prints the process's peak memory growth since before MPI_Init, in KiB. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int ended;

static long memory_kib(void) {
  char line[256];
  long sum = 0, value;
  FILE* const status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "RssAnon: %ld", &value) == 1 || sscanf(line, "RssShmem: %ld", &value) == 1) sum += value;
  }
  if (status != NULL) fclose(status);
  return sum;
}

static void* watch(void* peak) {
  while (!ended) {
    const long now = memory_kib();
    if (now > *(long*)peak) *(long*)peak = now;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 1000;
  const long before = memory_kib();
  long peak = before;
  pthread_t watcher;
  if (pthread_create(&watcher, NULL, watch, &peak) != 0) return 2;
  MPI_Init(&argc, &argv);
  for (long i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_SELF);
  MPI_Finalize();
  ended = 1;
  pthread_join(watcher, NULL);
  printf("%ld\n", peak - before);
  return 0;
}
