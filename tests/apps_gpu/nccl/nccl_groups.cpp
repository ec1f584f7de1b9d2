#include <cstdlib>

#include "../cuda_api.h"
#include "nccl_ranks.h"

extern "C" {
int ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int);
int ncclCommSplit(ncclComm_t, int, int, ncclComm_t*, void*);
int ncclAllReduce(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAllGather(const void*, void*, std::size_t, int, ncclComm_t, cudaStream_t);
int ncclSend(const void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclRecv(void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclGroupStart();
int ncclGroupEnd();
int ncclCommDestroy(ncclComm_t);
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
  ncclComm_t both = nullptr, own = nullptr, again = nullptr;
  require(ncclCommInitRank(&both, kRanks, common_id(rank, std::getenv("NCCL_ID_FILE")), rank));
  require(ncclCommSplit(both, rank, 0, &own, nullptr));
  require(ncclGroupStart());
  require(ncclCommSplit(both, 0, rank, &again, nullptr));
  require(ncclGroupEnd());

  require(ncclGroupStart());
  require(ncclAllReduce(from, to, kCount, kFloat, kSum, both, stream));
  require(ncclAllGather(from, to, kCount, kHalf, both, stream));
  require(ncclGroupEnd());
  require(ncclGroupStart());
  require(ncclSend(from, kCount, kFloat, 1 - rank, both, stream));
  require(ncclRecv(to, kCount, kFloat, 1 - rank, both, stream));
  require(ncclGroupEnd());
  require(ncclAllReduce(from, to, kCount, kFloat, kSum, own, stream));
  require(ncclAllReduce(from, to, kCount, kFloat, kSum, again, stream));
  require(ncclAllReduce(from, to, kCount, kFloat, kSum, both, stream));
  require(cudaStreamSynchronize(stream));
  for (const ncclComm_t comm : {own, again, both}) require(ncclCommDestroy(comm));
  return 0;
}
