// A CUDA and NCCL extension as trainers load it. Python scripts call it through ctypes.
#include <unistd.h>

#include <cstring>
#include <string>

#include "apps_gpu/cuda_api.h"
#include "apps_gpu/nvtx_ranges.h"

struct ncclComm;
using ncclComm_t = ncclComm*;
struct ncclUniqueId {
  char internal[128];
};
enum { ncclFloat32 = 7, ncclSum = 0 };
extern "C" {
int ncclGetUniqueId(ncclUniqueId*);
int ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int);
int ncclAllReduce(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclCommDestroy(ncclComm_t);
}

KERNEL(forward_kernel)
KERNEL(backward_kernel)
KERNEL(optimizer_kernel)
KERNEL(decode_kernel)

namespace {

constexpr std::size_t kCount = 1 << 16;

cudaStream_t stream;
void* gradients;
ncclComm_t communicator;

}  // namespace

#define EXTENSION extern "C" __attribute__((visibility("default")))

EXTENSION void range_push(const char* name) { nvtxRangePushA(name); }
EXTENSION void range_pop() { nvtxRangePop(); }

EXTENSION void use_device(int device) {
  check(cudaSetDevice(device));
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaMalloc(&gradients, kCount * sizeof(float)));
}

/// `id` has room for 128 bytes. Rank 0 makes it and sends it to the others.
EXTENSION void make_id(char* id) { ncclGetUniqueId(reinterpret_cast<ncclUniqueId*>(id)); }
EXTENSION int join(int rank, int ranks, const char* id) {
  ncclUniqueId copy;
  std::memcpy(&copy, id, sizeof copy);
  return ncclCommInitRank(&communicator, ranks, copy, rank);
}

EXTENSION void forward(int layers) {
  for (int i = 0; i < layers; ++i) LAUNCH(forward_kernel, 64, 256, stream);
}
EXTENSION void backward(int layers) {
  for (int i = 0; i < layers; ++i) LAUNCH(backward_kernel, 64, 256, stream);
}
EXTENSION void decode() { LAUNCH(decode_kernel, 64, 256, stream); }
EXTENSION void all_reduce() { ncclAllReduce(gradients, gradients, kCount, ncclFloat32, ncclSum, communicator, stream); }
EXTENSION void optimizer_step() {
  check(cudaMemsetAsync(gradients, 0, kCount * sizeof(float), stream));
  LAUNCH(optimizer_kernel, 64, 256, stream);
  check(cudaStreamSynchronize(stream));
}

EXTENSION void leave() {
  check(cudaDeviceSynchronize());
  if (communicator != nullptr) ncclCommDestroy(communicator);
}
