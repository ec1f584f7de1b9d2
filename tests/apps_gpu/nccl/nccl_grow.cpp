#include <cstdlib>

#include "../cuda_api.h"
#include "nccl_ranks.h"

extern "C" {
int ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int);
int ncclCommSplit(ncclComm_t, int, int, ncclComm_t*, void*);
int ncclCommGetUniqueId(ncclComm_t, ncclUniqueId*);
int ncclCommGrow(ncclComm_t, int, const ncclUniqueId*, int, ncclComm_t*, void*);
int ncclAllReduce(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclCommDestroy(ncclComm_t);
}

/// Adds one rank, whose `before` is null.
static ncclComm_t grown(ncclComm_t before, int rank, int ranks) {
  const std::string path = std::string(std::getenv("NCCL_ID_FILE")) + std::to_string(ranks);
  ncclComm_t after = nullptr;
  ncclUniqueId id;
  if (rank == 0) {
    require(ncclCommGetUniqueId(before, &id));
    leave(id, path);
    require(ncclCommGrow(before, ranks, &id, -1, &after, nullptr));
  } else if (before != nullptr) {
    require(ncclCommGrow(before, ranks, nullptr, -1, &after, nullptr));
  } else {
    id = left_at(path);
    require(ncclCommGrow(nullptr, ranks, &id, rank, &after, nullptr));
  }
  return after;
}

int main() {
  constexpr int kFloat = 7, kSum = 0;
  constexpr std::size_t kCount = 1024;
  const int rank = std::atoi(std::getenv("RANK"));
  float *from = nullptr, *to = nullptr;
  cudaStream_t stream = nullptr;
  require(cudaMalloc(reinterpret_cast<void**>(&from), kCount * sizeof(float)));
  require(cudaMalloc(reinterpret_cast<void**>(&to), kCount * sizeof(float)));
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ncclComm_t two = nullptr, own = nullptr, three = nullptr;
  if (rank < 2) {
    require(ncclCommInitRank(&two, 2, common_id(rank, std::getenv("NCCL_ID_FILE")), rank));
    require(ncclCommSplit(two, rank, 0, &own, nullptr));
  }
  if (rank < 3) {
    three = grown(two, rank, 3);
    require(ncclAllReduce(from, to, kCount, kFloat, kSum, three, stream));
  }
  const ncclComm_t four = grown(three, rank, 4);
  require(ncclAllReduce(from, to, kCount, kFloat, kSum, four, stream));
  require(cudaStreamSynchronize(stream));
  for (const ncclComm_t comm : {four, three, own, two}) {
    if (comm != nullptr) require(ncclCommDestroy(comm));
  }
  return 0;
}
