// With a nonblocking communicator, NCCL launches the kernels on its own thread.
#include <cstdlib>

#include "../cuda_api.h"
#include "nccl_ranks.h"

extern "C" {
int ncclCommInitRankConfig(ncclComm_t*, int, ncclUniqueId, int, void*);
int ncclCommGetAsyncError(ncclComm_t, int*);
int ncclAllReduce(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAllGather(const void*, void*, std::size_t, int, ncclComm_t, cudaStream_t);
int ncclGroupStart();
int ncclGroupEnd();
int ncclCommDestroy(ncclComm_t);
}

/// Waits until `comm` is ready: NCCL allows no other call before.
static void started(int result, ncclComm_t comm) {
  constexpr int kInProgress = 7;
  require(result == kInProgress ? 0 : result);
  for (int state = kInProgress; state == kInProgress; usleep(100)) require(ncclCommGetAsyncError(comm, &state));
}

int main() {
  constexpr int kRanks = 2, kFloat = 7, kHalf = 6, kSum = 0;
  constexpr std::size_t kCount = 1024;
  const int rank = std::atoi(std::getenv("RANK"));
  float *from = nullptr, *to = nullptr;
  cudaStream_t stream = nullptr;
  require(cudaMalloc(reinterpret_cast<void**>(&from), 2 * kCount * sizeof(float)));
  require(cudaMalloc(reinterpret_cast<void**>(&to), 2 * kCount * sizeof(float)));
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  struct {  // first members of ncclConfig_t
    std::size_t size = 24;
    unsigned magic = 0xcafebeef, version = 22809;
    int blocking = 0, cga_cluster_size = 0;
  } config;
  ncclComm_t comm = nullptr;
  started(ncclCommInitRankConfig(&comm, kRanks, common_id(rank, std::getenv("NCCL_ID_FILE")), rank, &config), comm);
  started(ncclAllReduce(from, to, kCount, kFloat, kSum, comm, stream), comm);
  require(ncclGroupStart());
  require(ncclAllReduce(from, to, kCount, kFloat, kSum, comm, stream));
  require(ncclAllGather(from, to, kCount, kHalf, comm, stream));
  started(ncclGroupEnd(), comm);
  started(ncclAllReduce(from, to, kCount, kFloat, kSum, comm, stream), comm);
  require(cudaStreamSynchronize(stream));
  require(ncclCommDestroy(comm));
  return 0;
}
