#include "cuda_api.h"

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 20;
  long allocations = 0, releases = 0;
  for (int i = 0; i < rounds; ++i) {
    void *device = nullptr, *pinned = nullptr, *managed = nullptr;
    check(cudaMalloc(&device, 1000 + static_cast<std::size_t>(i)));
    check(cudaMallocHost(&pinned, 2000));
    check(cudaMallocManaged(&managed, 3000));
    allocations += 3;
    static_cast<char*>(managed)[0] = 1;
    check(cudaFree(managed));
    check(cudaFreeHost(pinned));
    check(cudaFree(device));
    releases += 3;
  }
  check(cudaDeviceSynchronize());
  std::printf("allocations %ld\nreleases %ld\n", allocations, releases);
  return 0;
}
