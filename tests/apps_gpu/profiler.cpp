#include "cuda_api.h"

KERNEL(iteration_kernel)

int main(int count, char** arguments) {
  const long kernels = count > 1 ? std::atol(arguments[1]) : 10;
  for (int iteration = 0; iteration < 6; ++iteration) {
    if (iteration == 2) check(cudaProfilerStart());
    for (long i = 0; i < kernels; ++i) LAUNCH(iteration_kernel, iteration + 1, 64, nullptr);
    check(cudaDeviceSynchronize());
    if (iteration == 3) check(cudaProfilerStop());
  }
  std::printf("kernels %ld\n", 6 * kernels);
  return 0;
}
