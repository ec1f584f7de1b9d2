#include <stddef.h>

struct dim3 {
  unsigned x, y, z;
};
typedef struct {
  char internal[128];
} ncclUniqueId;
static char communicator;

int cudaLaunchKernel(const void* function, struct dim3 grid, struct dim3 block, void** arguments, size_t shared,
                     void* stream) {
  (void)function, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
  return 0;
}
int ncclCommInitRank(void** comm, int ranks, ncclUniqueId id, int rank) {
  (void)ranks, (void)id, (void)rank;
  *comm = &communicator;
  return 0;
}
int ncclCommDestroy(void* comm) { return comm == NULL; }
int ncclAllReduce(const void* from, void* to, size_t count, int type, int op, void* comm, void* stream) {
  (void)from, (void)to, (void)count, (void)type, (void)op, (void)comm, (void)stream;
  return 0;
}
int ncclGroupStart(void) { return 0; }
int ncclGroupEnd(void) { return 0; }
