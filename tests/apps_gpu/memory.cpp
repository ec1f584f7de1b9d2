// Allocates and releases memory of three kinds:
//   memory [ROUNDS [FILE]]     makes FILE after 20,000 rounds, and pauses after each 1,000
#include <fcntl.h>
#include <unistd.h>

#include "cuda_api.h"

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 20;
  const char* const file = count > 2 ? arguments[2] : nullptr;
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
    if (file == nullptr || (i + 1) % 1000 != 0) continue;
    if (i + 1 == 20'000) close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    usleep(100'000);
  }
  check(cudaDeviceSynchronize());
  std::printf("allocations %ld\nreleases %ld\n", allocations, releases);
  return 0;
}
