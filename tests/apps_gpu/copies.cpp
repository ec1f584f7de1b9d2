#include <cstring>

#include "cuda_api.h"

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 10;
  constexpr std::size_t kBytes = 1 << 16;
  void *device = nullptr, *other = nullptr, *pinned = nullptr;
  check(cudaMalloc(&device, kBytes));
  check(cudaMalloc(&other, kBytes));
  check(cudaMallocHost(&pinned, kBytes));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  static char host[kBytes], back[kBytes];
  long copies = 0, peer = 0, sets = 0, bytes = 0;
  int devices = 1;
  check(cudaGetDeviceCount(&devices));
  for (int i = 0; i < rounds; ++i) {
    std::memset(host, i + 1, kBytes);
    check(cudaMemcpy(device, host, kBytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(other, device, kBytes, cudaMemcpyDeviceToDevice));
    check(cudaMemcpyAsync(pinned, other, kBytes, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaMemcpy(back, other, kBytes, cudaMemcpyDefault));
    copies += 4;
    bytes += 4 * kBytes;
    if (std::memcmp(host, back, kBytes) != 0 || std::memcmp(host, pinned, kBytes) != 0) {
      std::puts("wrong data");
      return 1;
    }
    if (devices > 1) {
      check(cudaMemcpyPeer(other, 1, device, 0, kBytes));
      ++peer;
    }
    check(cudaMemset(device, 0, kBytes));
    check(cudaMemsetAsync(other, 7, kBytes / 2, stream));
    sets += 2;
  }
  check(cudaStreamSynchronize(stream));
  check(cudaMemcpy(back, other, kBytes, cudaMemcpyDeviceToHost));
  ++copies;
  bytes += kBytes;
  if (back[0] != 7 || back[kBytes - 1] != static_cast<char>(rounds)) {
    std::puts("wrong data");
    return 1;
  }
  check(cudaStreamDestroy(stream));
  check(cudaFreeHost(pinned));
  check(cudaFree(other));
  check(cudaFree(device));
  std::printf("copies %ld\npeer %ld\nsets %ld\nbytes %ld\n", copies, peer, sets, bytes);
  return 0;
}
