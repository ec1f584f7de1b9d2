// ddp [steps]: one of WORLD_SIZE processes. Rank 0 writes NCCL's id to DDP_ID_FILE.
#include <unistd.h>

#include <ctime>
#include <string>
#include <vector>

#include "cuda_api.h"
#include "nvtx_ranges.h"

#ifdef __CUDACC__
#include <nccl.h>
#else
struct ncclComm;
using ncclComm_t = ncclComm*;
struct ncclUniqueId {
  char internal[128];
};
enum { ncclSuccess = 0, ncclFloat32 = 7, ncclSum = 0 };
extern "C" {
int ncclGetUniqueId(ncclUniqueId*);
int ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int);
int ncclAllReduce(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclCommDestroy(ncclComm_t);
}
#endif

KERNEL(forward_kernel)
KERNEL(backward_kernel)
KERNEL(adam_kernel)

static constexpr int kLayers = 4;
static constexpr std::size_t kParameters = 1 << 18;  // per layer

static int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

static void check_nccl(int result) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "NCCL: error %d\n", result);
  std::exit(1);
}

static ncclUniqueId common_id(int rank, const std::string& path) {
  ncclUniqueId id;
  if (rank == 0) {
    check_nccl(ncclGetUniqueId(&id));
    const std::string partial = path + ".partial";
    std::FILE* file = std::fopen(partial.c_str(), "w");
    if (!file || std::fwrite(&id, sizeof id, 1, file) != 1 || std::fclose(file) != 0 ||
        std::rename(partial.c_str(), path.c_str()) != 0) {
      std::perror(path.c_str());
      std::exit(1);
    }
    return id;
  }
  for (;;) {
    if (std::FILE* file = std::fopen(path.c_str(), "r")) {
      const bool whole = std::fread(&id, sizeof id, 1, file) == 1;
      std::fclose(file);
      if (whole) return id;
    }
    const timespec time{0, 2000000};
    nanosleep(&time, nullptr);
  }
}

int main(int count, char** arguments) {
  const int steps = count > 1 ? std::atoi(arguments[1]) : 12;
  const int rank = number("RANK", 0), ranks = number("WORLD_SIZE", 1);
  int devices = 1;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices));
  const char* id_file = std::getenv("DDP_ID_FILE");
  ncclComm_t communicator;
  check_nccl(ncclCommInitRank(&communicator, ranks, common_id(rank, id_file ? id_file : "ddp.id"), rank));

  cudaStream_t compute, reduce;
  check(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&reduce, cudaStreamNonBlocking));
  std::vector<void*> gradients(kLayers);
  std::vector<cudaEvent_t> ready(kLayers);
  cudaEvent_t reduced;
  check(cudaEventCreateWithFlags(&reduced, cudaEventDisableTiming));
  for (int layer = 0; layer < kLayers; ++layer) {
    check(cudaMalloc(&gradients[static_cast<std::size_t>(layer)], kParameters * sizeof(float)));
    check(cudaEventCreateWithFlags(&ready[static_cast<std::size_t>(layer)], cudaEventDisableTiming));
  }
  constexpr std::size_t kBatch = 1 << 20;
  void *batch = nullptr, *host = nullptr;
  check(cudaMalloc(&batch, kBatch));
  check(cudaMallocHost(&host, kBatch));

  long kernels = 0, collectives = 0, copies = 0;
  for (int step = 0; step < steps; ++step) {
    nvtxRangePushA("train_step");
    check(cudaMemcpyAsync(batch, host, kBatch, cudaMemcpyHostToDevice, compute));
    ++copies;
    for (int layer = 0; layer < kLayers; ++layer, ++kernels) LAUNCH(forward_kernel, 1024, 256, compute);
    for (int layer = kLayers; layer-- > 0;) {
      LAUNCH(backward_kernel, 2048, 256, compute);
      ++kernels;
      const auto at = static_cast<std::size_t>(layer);
      check(cudaEventRecord(ready[at], compute));
      check(cudaStreamWaitEvent(reduce, ready[at], 0));
      check_nccl(ncclAllReduce(gradients[at], gradients[at], kParameters, ncclFloat32, ncclSum, communicator, reduce));
      ++collectives;
    }
    check(cudaEventRecord(reduced, reduce));
    check(cudaStreamWaitEvent(compute, reduced, 0));
    LAUNCH(adam_kernel, 512, 256, compute);
    ++kernels;
    check(cudaStreamSynchronize(compute));
    nvtxRangePop();
  }
  check(cudaDeviceSynchronize());
  check(cudaGetLastError());
  check_nccl(ncclCommDestroy(communicator));
  std::printf("rank %d of %d: steps %d kernels %ld collectives %ld copies %ld\n", rank, ranks, steps, kernels,
              collectives, copies);
  return 0;
}
