/* Times CUDA and NCCL calls of gpu_stub.c, which do nothing. */
#define _GNU_SOURCE
#include "call_cost.h"

struct dim3 {
  unsigned x, y, z;
};
typedef struct {
  char internal[128];
} ncclUniqueId;
int cudaLaunchKernel(const void*, struct dim3, struct dim3, void**, size_t, void*);
int ncclCommInitRank(void**, int, ncclUniqueId, int);
int ncclCommDestroy(void*);
int ncclAllReduce(const void*, void*, size_t, int, int, void*, void*);
int ncclGroupStart(void);
int ncclGroupEnd(void);

static float values[8];

static void* comm;
static void launch(int i) {
  const struct dim3 one = {1, 1, 1};
  cudaLaunchKernel(values, one, one, NULL, 0, (void*)(intptr_t)(i & 1));
}
static void allreduce(int i) {
  (void)i;
  ncclAllReduce(values, values, 8, 7, 0, comm, NULL);
}
static void group(int i) {
  (void)i;
  ncclGroupStart();
  ncclGroupEnd();
}
static void in_group(int i) {
  ncclGroupStart();
  allreduce(i);
  allreduce(i);
  ncclGroupEnd();
}

int main(void) {
  ncclUniqueId id = {"bench"};
  ncclCommInitRank(&comm, 1, id, 0);
  begin_measuring();
  measure("launch", launch);
  measure("allreduce", allreduce);
  measure("group", group);
  measure("in_group", in_group);
  ncclCommDestroy(comm);
  return 0;
}
