// Calls every NCCL function with arguments that NCCL refuses without a GPU. No header is used, so any NCCL version
// works. "-l PATH" opens the library with RTLD_LOCAL.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  char internal[128];
} UniqueId;

static void* library;

static void* bound(const char* name) { return library != NULL ? dlsym(library, name) : dlsym(RTLD_DEFAULT, name); }

#define CALL(NAME, TYPES, ARGUMENTS)             \
  do {                                           \
    int(*function) TYPES = bound(#NAME);         \
    if (function == NULL) {                      \
      printf(#NAME " absent\n");                 \
    } else {                                     \
      printf(#NAME " %d\n", function ARGUMENTS); \
    }                                            \
  } while (0)

typedef void* P;

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "-l") == 0) {
    library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
  }
  UniqueId id = {{0}};
  void *comm = NULL, *place = NULL;
  static char no_comm[8 << 20];  // large, because NCCL looks for magic numbers in a communicator
  float buffer[16] = {0};
  int number = 0, redop = 0;
  uint64_t wide = 0;
  setvbuf(stdout, NULL, _IONBF, 0);

  CALL(ncclCommInitRank, (P, int, UniqueId, int), (&comm, 2, id, 7));
  CALL(ncclCommInitRankConfig, (P, int, UniqueId, int, P), (&comm, 2, id, 7, NULL));
  CALL(ncclCommInitRankScalable, (P, int, int, int, P, P), (&comm, 2, 7, 1, &id, NULL));
  CALL(ncclCommInitAll, (P, int, P), (&comm, -1, NULL));
  CALL(ncclCommSplit, (P, int, int, P, P), (NULL, 0, 0, &place, NULL));
  CALL(ncclCommShrink, (P, P, int, P, P, int), (no_comm, &number, 0, &place, NULL, 0));
  CALL(ncclCommGrow, (P, int, P, int, P, P), (NULL, 0, NULL, -1, &place, NULL));
  CALL(ncclCommGetUniqueId, (P, P), (NULL, &id));
  CALL(ncclGetUniqueId, (P), (NULL));

  CALL(ncclAllGather, (P, P, size_t, int, P, P), (buffer, buffer, 2, 7, NULL, NULL));
  CALL(ncclAllReduce, (P, P, size_t, int, int, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL));
  CALL(ncclAlltoAll, (P, P, size_t, int, P, P), (buffer, buffer, 4, 7, NULL, NULL));
  CALL(ncclBcast, (P, size_t, int, int, P, P), (buffer, 4, 7, 0, NULL, NULL));
  CALL(ncclBroadcast, (P, P, size_t, int, int, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL));
  CALL(ncclGather, (P, P, size_t, int, int, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL));
  CALL(ncclReduce, (P, P, size_t, int, int, int, P, P), (buffer, buffer, 4, 7, 9, 0, NULL, NULL));
  CALL(ncclReduceScatter, (P, P, size_t, int, int, P, P), (buffer, buffer, 4, 7, 2, NULL, NULL));
  CALL(ncclScatter, (P, P, size_t, int, int, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL));
  CALL(ncclAllGatherConfig, (P, P, size_t, int, P, P, P), (buffer, buffer, 2, 7, NULL, NULL, NULL));
  CALL(ncclAllReduceConfig, (P, P, size_t, int, int, P, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL, NULL));
  CALL(ncclAlltoAllConfig, (P, P, size_t, int, P, P, P), (buffer, buffer, 4, 7, NULL, NULL, NULL));
  CALL(ncclBroadcastConfig, (P, P, size_t, int, int, P, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL, NULL));
  CALL(ncclGatherConfig, (P, P, size_t, int, int, P, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL, NULL));
  CALL(ncclReduceConfig, (P, P, size_t, int, int, int, P, P, P), (buffer, buffer, 4, 7, 0, 0, NULL, NULL, NULL));
  CALL(ncclReduceScatterConfig, (P, P, size_t, int, int, P, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL, NULL));
  CALL(ncclScatterConfig, (P, P, size_t, int, int, P, P, P), (buffer, buffer, 4, 7, 0, NULL, NULL, NULL));

  CALL(ncclSend, (P, size_t, int, int, P, P), (buffer, 4, 7, 1, NULL, NULL));
  CALL(ncclRecv, (P, size_t, int, int, P, P), (buffer, 4, 7, 1, NULL, NULL));
  CALL(ncclPutSignal, (P, size_t, int, int, P, size_t, int, int, unsigned, P, P),
       (buffer, 4, 7, 1, NULL, 0, 0, 0, 0, NULL, NULL));
  CALL(ncclSignal, (int, int, int, unsigned, P, P), (1, 0, 0, 0, NULL, NULL));
  CALL(ncclWaitSignal, (int, P, P, P), (0, NULL, NULL, NULL));

  CALL(ncclGroupStart, (void), ());
  CALL(ncclGroupEnd, (void), ());
  CALL(ncclGroupSimulateEnd, (P), (NULL));

  CALL(ncclCommFinalize, (P), (NULL));
  CALL(ncclCommDestroy, (P), (NULL));
  CALL(ncclCommAbort, (P), (NULL));
  CALL(ncclCommRevoke, (P, int), (NULL, 0));
  CALL(ncclCommSuspend, (P, int), (NULL, 1));
  CALL(ncclCommResume, (P), (NULL));
  CALL(ncclCommCount, (P, P), (NULL, &number));
  CALL(ncclCommCuDevice, (P, P), (NULL, &number));
  CALL(ncclCommUserRank, (P, P), (NULL, &number));
  CALL(ncclCommMemStats, (P, int, P), (NULL, 0, &wide));
  CALL(ncclCommQueryProperties, (P, P), (no_comm, no_comm + 4096));
  CALL(ncclDevCommCreate, (P, P, P), (NULL, NULL, NULL));
  CALL(ncclDevCommDestroy, (P, P), (no_comm, no_comm));

  CALL(ncclMemAlloc, (P, size_t), (NULL, 16));
  CALL(ncclMemFree, (P), (NULL));
  CALL(ncclCommRegister, (P, P, size_t, P), (NULL, buffer, 16, &place));
  CALL(ncclCommDeregister, (P, P), (NULL, NULL));
  CALL(ncclCommWindowRegister, (P, P, size_t, P, int), (NULL, buffer, 16, &place, 0));
  CALL(ncclCommWindowDeregister, (P, P), (NULL, NULL));
  CALL(ncclWinGetUserPtr, (P, P, P), (NULL, NULL, &place));
  CALL(ncclRedOpCreatePreMulSum, (P, P, int, int, P), (&redop, buffer, 7, 1, NULL));
  CALL(ncclRedOpDestroy, (int, P), (0, NULL));
  CALL(ncclSetEncryption, (P), (NULL));
  return 0;
}
