#include <sys/resource.h>

#include "cuda_api.h"

KERNEL(tiny_kernel)
KERNEL(adam_kernel)

int main(int count, char** arguments) {
  const long launches = count > 1 ? std::atol(arguments[1]) : 1000;
  const long per_step = count > 2 ? std::atol(arguments[2]) : 100;
  long kernels = 0, syncs = 0, steps = 0;
  for (long i = 0; i < launches; ++i) {
    LAUNCH(tiny_kernel, 4, 64, nullptr);
    ++kernels;
    if ((i + 1) % per_step != 0) continue;
    LAUNCH(adam_kernel, 8, 128, nullptr);
    check(cudaDeviceSynchronize());
    ++kernels, ++syncs, ++steps;
  }
  check(cudaDeviceSynchronize());
  ++syncs;
  check(cudaGetLastError());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::fprintf(stderr, "peak_kib %ld\n", usage.ru_maxrss);
  std::printf("kernels %ld\nsyncs %ld\nsteps %ld\n", kernels, syncs, steps);
  return 0;
}
