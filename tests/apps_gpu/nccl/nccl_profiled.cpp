#include <cstdlib>

#include "../cuda_api.h"
#include "nccl_ranks.h"

extern "C" {
int ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int);
int ncclAllReduce(const void*, void*, std::size_t, int, int, ncclComm_t, cudaStream_t);
int ncclAlltoAll(const void*, void*, std::size_t, int, ncclComm_t, cudaStream_t);
int ncclGroupStart();
int ncclGroupEnd();
int ncclCommDestroy(ncclComm_t);
}

int main() {
  constexpr int kRanks = 2, kFloat = 7, kSum = 0;
  constexpr std::size_t kSmall = 64 * 1024 / sizeof(float), kLarge = 8 * kSmall;
  const int rank = std::atoi(std::getenv("RANK"));
  float* buffer = nullptr;
  cudaStream_t stream = nullptr;
  require(cudaMalloc(reinterpret_cast<void**>(&buffer), kLarge * sizeof(float)));
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ncclComm_t comm = nullptr;
  require(ncclCommInitRank(&comm, kRanks, common_id(rank, std::getenv("NCCL_ID_FILE")), rank));
  const auto reduce = [&](std::size_t count) {
    require(ncclAllReduce(buffer, buffer, count, kFloat, kSum, comm, stream));
  };

  reduce(kLarge);
  require(ncclGroupStart());
  reduce(kLarge);
  require(ncclGroupEnd());
  require(ncclGroupStart());
  for (const std::size_t count : {kSmall, kLarge, kSmall}) reduce(count);
  require(ncclGroupEnd());
  require(ncclAlltoAll(buffer, buffer, kSmall, kFloat, comm, stream));

  require(cudaStreamSynchronize(stream));
  require(ncclCommDestroy(comm));
  const char* const plugin = std::getenv("NCCL_PROFILER_PLUGIN");
  std::printf("plugin %s\n", plugin != nullptr ? plugin : "");
  return 0;
}
