/* Calls MPI_Barrier argv[1] times and prints the process's peak memory growth since before MPI_Init, in KiB. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLookEvery = 10000 };

static atomic_int ended;
static atomic_long peak;

static long value_of(const char* text, const char* key) {
  const char* const at = strstr(text, key);
  return at == NULL ? 0 : atol(at + strlen(key));
}

/* Without malloc: MPI_Init and MPI_Finalize of Open MPI change the code of munmap() and madvise(), which another thread
   must not call then. */
static long memory_kib(void) {
  char text[4096];
  const int fd = open("/proc/self/status", O_RDONLY);
  const ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (bytes < 0) abort();
  text[bytes] = 0;
  return value_of(text, "RssAnon:") + value_of(text, "RssShmem:");
}

static void look(void) {
  const long now = memory_kib();
  long most = peak;
  while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {
  }
}

/* Sees what is needed only inside a call. May get no CPU on a busy machine. */
static void* watch(void* unused) {
  while (!ended) look();
  return unused;
}

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 1000;
  const long before = memory_kib();
  peak = before;
  pthread_t watcher;
  if (pthread_create(&watcher, NULL, watch, NULL) != 0) return 2;
  MPI_Init(&argc, &argv);
  for (long i = 0; i < calls; ++i) {
    MPI_Barrier(MPI_COMM_SELF);
    if (i % kLookEvery == 0) look();
  }
  look();
  MPI_Finalize();
  ended = 1;
  pthread_join(watcher, NULL);
  printf("%ld\n", peak - before);
  return 0;
}
